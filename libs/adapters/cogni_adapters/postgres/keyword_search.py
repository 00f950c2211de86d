"""Terms as rows: which passage holds which, at which level, counted and summed among what is visible."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import sqlalchemy as sa

from cogni_adapters.postgres.connections import Transactions, kept, read_back
from cogni_adapters.postgres.partitions import KeywordPartition, keyword_partition
from cogni_adapters.postgres.readers import admitted, class_numbers, relabelled
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.knowledge.index_checks import BAD_K, MAX_K, refused_passages
from cogni_domain.knowledge.keyword_scores import (
    asked,
    heavy,
    levels,
    score,
    term_number,
    tie,
    weights,
)
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_kernel import ChunkId, DocumentId, Ok, Result

_SIGNED = 1 << 63


class PostgresKeywordSearchAdapter(KeywordSearchPort):
    """Three tables an index, in the schema that `cogni migrate` makes.

    Source:
        DESIGN D2, D4, D9; docs/adr/0003-keyword-scores.md, docs/adr/0019-search-in-postgresql.md.
    """

    def __init__(self, database: Transactions) -> None:
        self._database = database

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], terms: Sequence[Sequence[str]]
    ) -> Result[int]:
        if (refused := refused_passages(index, chunks)) is not None:
            return refused
        if not chunks:
            return Ok(0)
        partition = keyword_partition(index)
        held = [{_term(term): at for term, at in levels(each).items()} for each in terms]

        def work(connection: sa.Connection) -> Result[int]:
            partition.lock(connection)
            if not partition.exists(connection):
                partition.create(connection)
            _delete(connection, partition, {chunk.document_id for chunk in chunks})
            _insert(connection, partition, chunks, held)
            return Ok(len(chunks))

        return await self._database.write(work)

    async def search(
        self, index: IndexId, terms: Sequence[str], predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if not 1 <= k <= MAX_K:
            return BAD_K
        partition, question = keyword_partition(index), asked(terms)
        rows = partition.rows

        def work(connection: sa.Connection) -> Result[Sequence[Hit]]:
            if not question or not partition.exists(connection):
                return Ok([])
            visible = admitted(connection, index, partition, predicate)
            among = connection.scalar(sa.select(sa.func.count()).select_from(rows).where(visible))
            held = _held(connection, partition, list(question), visible)
            weighed = weights(question, among or 0, held)
            deciding = heavy(weighed)
            found = _best(connection, partition, deciding, visible, k)
            if len(found) < k and len(deciding) < len(weighed):
                found = _best(connection, partition, weighed, visible, k)
            return Ok(found)

        return await self._database.read(work)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        partition = keyword_partition(index)

        def work(connection: sa.Connection) -> Result[int]:
            if not partition.exists(connection):
                return Ok(0)
            partition.lock(connection)
            return Ok(_delete(connection, partition, documents))

        return await self._database.write(work)

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        partition = keyword_partition(index)

        def work(connection: sa.Connection) -> Result[int]:
            return Ok(relabelled(connection, partition, document, readers))

        return await self._database.write(work)


def _term(term: str) -> int:
    """Return the number that a term is kept as."""
    return term_number(term) - _SIGNED


def _insert(
    connection: sa.Connection,
    partition: KeywordPartition,
    chunks: Sequence[Chunk],
    held: Sequence[Mapping[int, int]],
) -> None:
    numbers = class_numbers(connection, partition.readers, (chunk.readers for chunk in chunks))
    rows = [
        {
            "chunk": kept(chunk.id),
            "document": kept(chunk.document_id),
            "class": numbers[chunk.readers],
            "tie": tie(chunk.id) - _SIGNED,
            "terms": list(terms),
        }
        for chunk, terms in zip(chunks, held, strict=True)
    ]
    inserting = sa.insert(partition.rows).returning(
        partition.rows.c.row, sort_by_parameter_order=True
    )
    places = connection.scalars(inserting, rows).all()
    words = [
        (term, place, level)
        for place, terms in zip(places, held, strict=True)
        for term, level in terms.items()
    ]
    if words:
        columns = map(_numbers, zip(*words, strict=True))
        found = sa.func.unnest(*columns).table_valued("term", "row", "level").render_derived()
        into = sa.insert(partition.words)
        connection.execute(into.from_select(["term", "row", "level"], sa.select(found)))


def _delete(
    connection: sa.Connection, partition: KeywordPartition, documents: Collection[DocumentId]
) -> int:
    rows, words = partition.rows, partition.words
    names = sa.literal([kept(document) for document in documents], sa.ARRAY(sa.LargeBinary))
    of_these = rows.c.document == sa.any_(names)
    term = sa.func.unnest(rows.c.terms).label("term")
    held = sa.select(term, rows.c.row).where(of_these).subquery()
    connection.execute(
        sa.delete(words).where(words.c.term == held.c.term, words.c.row == held.c.row)
    )
    return connection.execute(sa.delete(rows).where(of_these)).rowcount


def _held(
    connection: sa.Connection,
    partition: KeywordPartition,
    terms: Sequence[str],
    visible: sa.ColumnElement[bool],
) -> dict[str, int]:
    """Count the visible passages that hold each term."""
    rows, words = partition.rows, partition.words
    names = {_term(term): term for term in terms}
    query = (
        sa.select(words.c.term, sa.func.count())
        .join(rows, rows.c.row == words.c.row)
        .where(words.c.term == sa.any_(_numbers(names)), visible)
        .group_by(words.c.term)
    )
    return {names[term]: count for term, count in connection.execute(query)}


def _best(
    connection: sa.Connection,
    partition: KeywordPartition,
    weighed: Mapping[str, int],
    visible: sa.ColumnElement[bool],
    k: int,
) -> list[Hit]:
    """Return the `k` visible passages with the highest sums of weights times levels."""
    rows, words = partition.rows, partition.words
    by_term = {_term(term): weight for term, weight in weighed.items()}
    weight = sa.case(by_term, value=words.c.term, else_=0) if by_term else sa.literal(0)
    points = sa.func.sum(words.c.level * weight).label("points")
    query = (
        sa.select(rows.c.chunk, rows.c.document, points)
        .join(words, words.c.row == rows.c.row)
        .where(words.c.term == sa.any_(_numbers(by_term)), visible)
        .group_by(rows.c.row)
        .order_by(points.desc(), rows.c.tie)
        .limit(k)
    )
    return [
        Hit(ChunkId(read_back(chunk)), DocumentId(read_back(document)), score(float(found)))
        for chunk, document, found in connection.execute(query)
    ]


def _numbers(values: Iterable[int]) -> sa.ColumnElement[Sequence[int]]:
    return sa.literal(list(values), sa.ARRAY(sa.BigInteger))
