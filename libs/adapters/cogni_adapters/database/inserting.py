"""Inserting what may be there already."""

from collections.abc import Mapping

import sqlalchemy as sa

from cogni_adapters.database.prepared import inserting_if_new, write


def insert_if_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, object]) -> bool:
    """Insert a row, unless one that it must differ from is there; tell whether it went in."""
    return write(connection, inserting_if_new(connection.dialect.name, table, tuple(row)), row) == 1
