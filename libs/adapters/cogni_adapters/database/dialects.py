"""What SQLite and PostgreSQL spell differently; nothing else in this folder asks for the dialect."""

import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from cogni_adapters.database.schema import AnyText, escape


def insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that knows `on_conflict_do_update` and `on_conflict_do_nothing`."""
    made = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    return made(table)


def texts(values: Iterable[str]) -> sa.Select[str]:
    """Return a query whose rows are `values`: one parameter, however many there are.

    Use it as the right side of IN. A plain list would take a parameter a value, and 10,000 of them are
    more than a driver allows.
    """
    packed = json.dumps(list(map(escape, values)), ensure_ascii=False)
    rows = _EachText(sa.literal(packed, sa.Text)).table_valued(sa.column("value", AnyText))
    return sa.select(rows.c.value)


class _EachText(FunctionElement[str]):
    """The elements of a JSON array of texts, a row each."""

    inherit_cache = True


@compiles(_EachText, "sqlite")
def _each_text_in_sqlite(element: _EachText, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_EachText, "postgresql")
def _each_text_in_postgresql(element: _EachText, compiler: SQLCompiler, **options: Any) -> str:
    packed = compiler.process(element.clauses, **options)
    return f"jsonb_array_elements_text(CAST({packed} AS JSONB))"
