"""One statement for many rows, prepared once: what a log writes a thousand times a second."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy.sql.compiler import SQLCompiler

Row = Mapping[str, object]


def write_many(connection: sa.Connection, statement: sa.UpdateBase, rows: Sequence[Row]) -> int:
    """Execute a statement of named parameters once for each row; return how many rows it wrote in all.

    Values pass the same types as anywhere; what is left out is the work that SQLAlchemy does anew for each row.
    """
    text, arranged = _prepared(statement, connection.dialect)
    return connection.exec_driver_sql(text, [arranged(row) for row in rows]).rowcount


@lru_cache(maxsize=64)
def _prepared(
    statement: sa.UpdateBase, dialect: sa.Dialect
) -> tuple[str, Callable[[Row], tuple[object, ...] | dict[str, object]]]:
    """Return the text of a statement, and what makes parameters of a row."""
    compiled = statement.compile(dialect=dialect)
    assert isinstance(compiled, SQLCompiler)
    names = list(compiled.positiontup or compiled.params)
    types = {name: compiled.binds[name].type.dialect_impl(dialect) for name in names}
    processors = {name: kind.bind_processor(dialect) for name, kind in types.items()}

    def value(row: Row, name: str) -> object:
        process = processors.get(name)
        return process(row[name]) if process else row[name]

    if compiled.positional:
        return str(compiled), lambda row: tuple(value(row, name) for name in names)
    return str(compiled), lambda row: {name: value(row, name) for name in names}
