"""Statements that are made once and handed to the driver as they are: what a turn executes again and again."""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from cogni_adapters.database.dialects import insert
from cogni_adapters.database.schema import AnyText, JsonText

Row: TypeAlias = Mapping[str, object]
"""What is written: a value for each parameter that has none."""

Statement: TypeAlias = sa.Select[Any] | sa.UpdateBase
_Parameters: TypeAlias = tuple[object, ...] | dict[str, object]


def fetch(connection: sa.Connection, statement: Statement, **values: object) -> list[Any]:
    """Execute a statement of named parameters; return its rows, whose columns are attributes.

    Values and results pass the types of their columns, as anywhere. What is left out is what SQLAlchemy does anew
    for every execution, several times the work of the statement itself. The statement is a constant of its module:
    it is compiled once and kept.
    """
    prepared = _prepared(statement, connection.dialect)
    cursor = connection.connection.cursor()
    try:
        cursor.execute(prepared.text, prepared.arranged(values))
        return [prepared.row(found) for found in cursor.fetchall()]
    finally:
        cursor.close()


def fetch_one(connection: sa.Connection, statement: Statement, **values: object) -> Any:
    """Return the first row, None where there is none."""
    found = fetch(connection, statement, **values)
    return found[0] if found else None


def write(connection: sa.Connection, statement: sa.UpdateBase, row: Row) -> int:
    """Execute a statement that returns no rows; return how many it wrote."""
    return write_many(connection, statement, [row])


def write_many(connection: sa.Connection, statement: sa.UpdateBase, rows: Sequence[Row]) -> int:
    """Execute such a statement once for each row; return how many it wrote in all."""
    prepared = _prepared(statement, connection.dialect)
    cursor = connection.connection.cursor()
    try:
        if len(rows) == 1:
            cursor.execute(prepared.text, prepared.arranged(rows[0]))
        else:
            cursor.executemany(prepared.text, list(map(prepared.arranged, rows)))  # type: ignore[arg-type]
        return int(cursor.rowcount)
    finally:
        cursor.close()


@cache
def inserting(table: sa.Table, *names: str) -> sa.Insert:
    """Return the INSERT of these columns, of all where none is named; its parameters are their names."""
    return sa.insert(table).values(_named(table, names))


@cache
def inserting_if_new(dialect: str, table: sa.Table, names: tuple[str, ...]) -> sa.Insert:
    """Return the INSERT that leaves what is there as it is."""
    return insert(dialect, table).values(_named(table, names)).on_conflict_do_nothing()


def _named(table: sa.Table, names: Sequence[str]) -> dict[str, sa.BindParameter[Any]]:
    return {name: sa.bindparam(name) for name in names or table.c.keys()}


class _Prepared:
    """The text of a statement, and what makes its parameters and its rows."""

    def __init__(self, statement: Statement, dialect: sa.Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        assert isinstance(compiled, SQLCompiler)
        self.text = str(compiled)
        self.arranged = _arrangement(compiled, dialect)
        self.row = _reading(compiled, dialect)


@lru_cache(maxsize=512)
def _prepared(statement: Statement, dialect: sa.Dialect) -> _Prepared:
    return _Prepared(statement, dialect)


def _arrangement(compiled: SQLCompiler, dialect: sa.Dialect) -> Callable[[Row], _Parameters]:
    """Return what takes the values that a statement asks for, and adds those that it brings."""
    names = list(compiled.positiontup or compiled.params)
    binds = [compiled.binds[name] for name in names]
    processors = [_writing(bind.type, dialect) for bind in binds]
    brought = {n: b.effective_value for n, b in zip(names, binds, strict=True) if not b.required}
    steps = tuple(zip(names, processors, strict=True))

    def arranged(row: Row) -> list[object]:
        row = {**brought, **row} if brought else row
        return [process(row[name]) if process else row[name] for name, process in steps]

    if compiled.positional:
        return lambda row: tuple(arranged(row))
    return lambda row: dict(zip(names, arranged(row), strict=True))


def _writing(kind: TypeEngine[Any], dialect: sa.Dialect) -> Callable[[Any], object] | None:
    """Return what makes a parameter of a value; our own types of text need nothing of the type below them."""
    if isinstance(kind, AnyText | JsonText):
        return partial(kind.process_bind_param, dialect=dialect)
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _reading(compiled: SQLCompiler, dialect: sa.Dialect) -> Callable[[Sequence[Any]], Any]:
    columns = compiled._result_columns  # noqa: SLF001 - the one place that knows the types of what comes back
    row = namedtuple("row", [c.keyname for c in columns], rename=True)  # type: ignore[misc]
    kinds = [c.type.dialect_impl(dialect) for c in columns]
    processors = [kind.result_processor(dialect, None) for kind in kinds]

    def read(found: Sequence[Any]) -> Any:
        return row._make([p(v) if p else v for p, v in zip(processors, found, strict=True)])

    return read
