"""Nearest neighbours by pgvector, always exact: what is visible is compared, and nothing else."""

from collections.abc import Sequence

import sqlalchemy as sa

from cogni_adapters.postgres.connections import Transactions, kept, read_back
from cogni_adapters.postgres.partitions import SCHEMA, Partition, Vector, vector_partition
from cogni_adapters.postgres.readers import admitted, class_numbers, relabelled
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.knowledge.index_checks import (
    OTHER_DIMENSION,
    refused_question,
    refused_vectors,
)
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import ChunkId, DocumentId, Ok, Result


class PgVectorStoreAdapter(VectorStorePort):
    """One table an index, in the schema that `cogni migrate` makes.

    Source:
        DESIGN D2, D3, D9; docs/adr/0019-search-in-postgresql.md.
    """

    def __init__(self, database: Transactions) -> None:
        self._database = database

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], vectors: Vectors
    ) -> Result[int]:
        if (refused := refused_vectors(index, chunks, vectors)) is not None:
            return refused
        if not chunks:
            return Ok(0)
        partition = vector_partition(index, vectors.shape[1])

        def work(connection: sa.Connection) -> Result[int]:
            partition.lock(connection)
            if (found := _dimension(connection, partition)) not in (None, vectors.shape[1]):
                return OTHER_DIMENSION
            if found is None:
                partition.create(connection)
            numbers = class_numbers(
                connection, partition.readers, (chunk.readers for chunk in chunks)
            )
            connection.execute(_deleting(partition, {chunk.document_id for chunk in chunks}))
            rows = [
                {
                    "chunk": kept(chunk.id),
                    "document": kept(chunk.document_id),
                    "class": numbers[chunk.readers],
                    "embedding": str(vector),
                }
                for chunk, vector in zip(chunks, vectors.tolist(), strict=True)
            ]
            connection.execute(sa.insert(partition.rows), rows)
            return Ok(len(chunks))

        return await self._database.write(work)

    async def knn(
        self, index: IndexId, vector: Vectors, predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if (refused := refused_question(vector, k)) is not None:
            return refused
        question = sa.literal(str(vector[0].tolist()), Vector())
        partition = vector_partition(index, 0)
        rows = partition.rows
        distance = rows.c.embedding.op("<#>", return_type=sa.Float())(question)

        def work(connection: sa.Connection) -> Result[Sequence[Hit]]:
            found = _dimension(connection, partition)
            if found is None:
                return Ok([])
            if found != vector.shape[1]:
                return OTHER_DIMENSION
            query = (
                sa.select(rows.c.chunk, rows.c.document, distance)
                .where(admitted(connection, index, partition, predicate))
                .order_by(distance, rows.c.chunk)
                .limit(k)
            )
            return Ok([_hit(*row) for row in connection.execute(query)])

        return await self._database.read(work)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        partition = vector_partition(index, 0)

        def work(connection: sa.Connection) -> Result[int]:
            if not partition.exists(connection):
                return Ok(0)
            partition.lock(connection)
            return Ok(connection.execute(_deleting(partition, documents)).rowcount)

        return await self._database.write(work)

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        partition = vector_partition(index, 0)

        def work(connection: sa.Connection) -> Result[int]:
            return Ok(relabelled(connection, partition, document, readers))

        return await self._database.write(work)


def _deleting(partition: Partition, documents: Sequence[DocumentId] | set[DocumentId]) -> sa.Delete:
    names = sa.literal([kept(document) for document in documents], sa.ARRAY(sa.LargeBinary))
    return sa.delete(partition.rows).where(partition.rows.c.document == sa.any_(names))


def _dimension(connection: sa.Connection, partition: Partition) -> int | None:
    """Return the length of the vectors of an index, None where it has none."""
    query = sa.text(
        "SELECT atttypmod FROM pg_attribute"
        " WHERE attrelid = to_regclass(:name) AND attname = 'embedding'"
    )
    found: int | None = connection.scalar(query, {"name": f"{SCHEMA}.{partition.rows.name}"})
    return found


def _hit(chunk: bytes, document: bytes, distance: float) -> Hit:
    return Hit(ChunkId(read_back(chunk)), DocumentId(read_back(document)), -distance)
