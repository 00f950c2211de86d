"""The access predicate as SQL over documents and their readers."""

import sqlalchemy as sa

from cogni_adapters.database.dialects import texts
from cogni_adapters.database.tables.knowledge import document_readers, documents
from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate

_COLUMNS = {"tenant": documents.c.tenant_id, "corpus": documents.c.corpus_id}
"""Fields that hold one value each."""


def admitted(predicate: Predicate) -> sa.ColumnElement[bool]:
    """Return the condition that holds for exactly those rows of `documents` whose labels satisfy `predicate`."""
    match predicate:
        case All(parts):
            return sa.and_(*map(admitted, parts)) if parts else sa.false()
        case NoneOf(field, values):
            return sa.not_(_shares(field, values))
        case Overlaps(field, values):
            return _shares(field, values)
        case Eq(field, value):
            return sa.and_(_shares(field, {value}), _holds_one(field))
        case OneOf(field, values):
            return sa.and_(_shares(field, values), _holds_one(field))


def _shares(field: str, values: frozenset[str] | set[str]) -> sa.ColumnElement[bool]:
    if field in _COLUMNS:
        column = _COLUMNS[field]
        return column == next(iter(values)) if len(values) == 1 else column.in_(texts(values))
    if field != "readers":
        return sa.false()
    # The concatenation keeps SQLite from looking up every value for every document.
    return _readers((document_readers.c.token + "").in_(texts(values))).exists()


def _holds_one(field: str) -> sa.ColumnElement[bool]:
    if field != "readers":
        return sa.true()
    counted = _readers().with_only_columns(sa.func.count())
    return counted.scalar_subquery() == 1


def _readers(*conditions: sa.ColumnElement[bool]) -> sa.Select[str]:
    return (
        sa.select(document_readers.c.token)
        .where(
            document_readers.c.tenant_id == documents.c.tenant_id,
            document_readers.c.document_id == documents.c.id,
            *conditions,
        )
        .correlate(documents)
    )
