"""Inserting what may be there already."""

from collections.abc import Mapping

import sqlalchemy as sa

from cogni_adapters.database.dialects import insert


def insert_if_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, object]) -> bool:
    """Insert a row, unless one that it must differ from is there; tell whether it went in."""
    statement = insert(connection.dialect.name, table).on_conflict_do_nothing()
    return connection.execute(statement, row).rowcount == 1
