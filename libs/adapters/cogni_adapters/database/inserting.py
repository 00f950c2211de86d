"""Inserting what may be there already."""

from collections.abc import Mapping
from functools import cache

import sqlalchemy as sa

from cogni_adapters.database.dialects import insert


def insert_if_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, object]) -> bool:
    """Insert a row, unless one that it must differ from is there; tell whether it went in."""
    return connection.execute(_statement(connection.dialect.name, table), row).rowcount == 1


@cache
def _statement(dialect: str, table: sa.Table) -> sa.Insert:
    return insert(dialect, table).on_conflict_do_nothing()
