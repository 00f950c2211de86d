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


def insert(dialect: str, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that knows `on_conflict_do_update` and `on_conflict_do_nothing`, and counts its rows."""
    statement = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    return statement.execution_options(preserve_rowcount=True)


def texts(values: Iterable[str]) -> sa.Select[str]:
    """Return a query whose rows are `values`: one parameter, however many there are.

    Use it as the right side of IN. A plain list would take a parameter a value, and 10,000 of them are
    more than a driver allows.
    """
    return _rows_of(sa.literal(packed(values), sa.Text))


def texts_named(parameter: str) -> sa.Select[str]:
    """Return the same for a statement that is made once: its parameter is to be `packed(values)`."""
    return _rows_of(sa.bindparam(parameter, type_=sa.Text))


def packed(values: Iterable[str]) -> str:
    """Return the one parameter that stands for many texts."""
    return json.dumps(list(map(escape, values)), ensure_ascii=False)


def _rows_of(parameter: sa.BindParameter[str]) -> sa.Select[str]:
    rows = _EachText(parameter).table_valued(sa.column("value", AnyText))
    return sa.select(rows.c.value)


class _EachText(FunctionElement[str]):
    """The elements of a JSON array of texts, a row each."""

    inherit_cache = True


@compiles(_EachText, "sqlite")
def _each_text_in_sqlite(element: _EachText, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_EachText, "postgresql")
def _each_text_in_postgresql(element: _EachText, compiler: SQLCompiler, **options: Any) -> str:
    parameter = compiler.process(element.clauses, **options)
    return f"jsonb_array_elements_text(CAST({parameter} AS JSONB))"
