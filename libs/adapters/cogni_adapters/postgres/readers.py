"""Sets of readers as small numbers: a hundred groups cost a query no more than one does.

A passage carries the number of its set. A predicate is compiled into the numbers of the sets that satisfy it,
which the search is confined to. Class 0 is the empty set: nobody may read its passages.

Source:
    DESIGN D2.
"""

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from cogni_adapters.postgres.connections import kept
from cogni_adapters.postgres.partitions import Partition
from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import IndexId
from cogni_kernel import DocumentId

NOBODY = 0


def class_numbers(
    connection: sa.Connection, readers: sa.Table, sets: Iterable[frozenset[ReaderToken]]
) -> dict[frozenset[ReaderToken], int]:
    """Return the number of each set, a new one for each that was not seen before.

    The index must be locked: numbers are given once and never used again.
    """
    return {each: _number(connection, readers, each) for each in set(sets)}


def admitted(
    connection: sa.Connection, index: IndexId, partition: Partition, predicate: Predicate
) -> sa.ColumnElement[bool]:
    """Return the condition that holds for exactly those rows whose labels satisfy `predicate`.

    The sets of readers are looked up here, in the snapshot of the search: of their numbers the server knows how many
    rows have them, and plans by it. Tenant and corpus are the partition's own.
    """
    place = {"tenant": str(index.tenant_id), "corpus": str(index.corpus_id)}
    number = partition.rows.c["class"]

    def condition(predicate: Predicate) -> sa.ColumnElement[bool]:
        match predicate:
            case All(parts):
                return sa.and_(*map(condition, parts)) if parts else sa.false()
            case NoneOf(field, values):
                return sa.not_(shares(field, values))
            case Overlaps(field, values):
                return shares(field, values)
            case Eq(field, value):
                return shares(field, {value}, alone=True)
            case OneOf(field, values):
                return shares(field, values, alone=True)

    def shares(
        field: str, values: Collection[str], *, alone: bool = False
    ) -> sa.ColumnElement[bool]:
        if field != "readers":
            return sa.true() if place.get(field) in values else sa.false()
        found = connection.scalars(_classes(partition.readers, values, alone=alone).distinct())
        return number == sa.any_(sa.literal(list(found), sa.ARRAY(sa.Integer)))

    return condition(predicate)


def relabelled(
    connection: sa.Connection,
    partition: Partition,
    document: DocumentId,
    readers: frozenset[ReaderToken],
) -> int:
    """Give the passages of a document other readers; return how many had others."""
    if not partition.exists(connection):
        return 0
    partition.lock(connection)
    rows = partition.rows
    number = class_numbers(connection, partition.readers, [readers])[readers]
    statement = (
        sa.update(rows)
        .where(rows.c.document == kept(document), rows.c["class"] != number)
        .values({"class": number})
    )
    return connection.execute(statement).rowcount


def _classes(readers: sa.Table, values: Collection[str], *, alone: bool) -> sa.Select[int]:
    tokens = sa.literal([kept(value) for value in values], sa.ARRAY(sa.LargeBinary))
    query = sa.select(readers.c["class"]).where(readers.c.token == sa.any_(tokens))
    return query.where(readers.c.size == 1) if alone else query


def _number(connection: sa.Connection, readers: sa.Table, tokens: frozenset[ReaderToken]) -> int:
    if not tokens:
        return NOBODY
    number, size = readers.c["class"], len(tokens)
    known = (
        _classes(readers, tokens, alone=False)
        .where(readers.c.size == size)
        .group_by(number)
        .having(sa.func.count() == size)
    )
    if (found := connection.scalar(known)) is not None:
        return found
    new = (connection.scalar(sa.select(sa.func.max(number))) or NOBODY) + 1
    rows = [{"token": kept(token), "class": new, "size": size} for token in tokens]
    connection.execute(sa.insert(readers), rows)
    return new
