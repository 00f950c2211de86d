"""Vectors as rows, and an exact scan of the visible ones in memory."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import sqlalchemy as sa

from cogni_adapters.database.dialects import texts
from cogni_adapters.database.engine import Database
from cogni_adapters.database.schema import AnyText
from cogni_adapters.database.tables.knowledge import vectors as table
from cogni_adapters.database.vector_mirror import OTHER_DIMENSION, Passages, VectorMirror
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import DocumentId, Err, HumanText, InvalidArgumentError, Ok, Result

MAX_K = 1_000
LOADED_AT_ONCE = 2_048

BAD_K = HumanText(f"Ask for 1 to {MAX_K:,} passages.")
FOREIGN_CHUNK = HumanText("An index holds the passages of one corpus of one tenant.")
NOT_VECTORS = HumanText("Every passage needs one vector of finite numbers.")


class _Partition:
    """One index in this process: its mirror, once somebody has searched it."""

    def __init__(self, index: IndexId) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._mirror: VectorMirror | None = None

    def mirror(self, connection: sa.Connection) -> VectorMirror:
        """Return the mirror, read from the rows where this is the first time."""
        with self._lock:
            if self._mirror is None:
                self._mirror = _load(connection, self._index)
            return self._mirror

    def follow(self, change: Callable[[VectorMirror], None]) -> None:
        """Make a committed change to the mirror too; what is not read yet will be read with the change.

        A change made twice is made once, so a mirror that was read between commit and here is right as well.
        """
        with self._lock:
            if self._mirror is not None:
                change(self._mirror)


class DatabaseVectorStoreAdapter(VectorStorePort):
    """Rows in the database are the truth; the mirror of an index is read at its first search.

    One process owns the data: what another one writes is not seen by a mirror that was read before.

    Source:
        DESIGN D1, D2, D3.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._partitions: dict[IndexId, _Partition] = {}

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], vectors: Vectors
    ) -> Result[int]:
        if (refusal := _refusal(index, chunks, vectors)) is not None:
            return Err(InvalidArgumentError(refusal))
        if not chunks:
            return Ok(0)
        passages = _passages(chunks, vectors)

        def work(connection: sa.Connection) -> Result[int]:
            if _dimension(connection, index) not in (None, vectors.shape[1]):
                return Err(InvalidArgumentError(OTHER_DIMENSION))
            connection.execute(sa.delete(table).where(*_of(index, passages.documents)))
            connection.execute(sa.insert(table), _rows(index, passages))
            return Ok(len(chunks))

        return await self._write(index, work, lambda mirror: mirror.put(passages))

    async def knn(
        self, index: IndexId, vector: Vectors, predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if not 1 <= k <= MAX_K:
            return Err(InvalidArgumentError(BAD_K))
        if len(vector) != 1 or not np.isfinite(vector).all():
            return Err(InvalidArgumentError(NOT_VECTORS))
        partition = self._partition(index)
        question = np.ascontiguousarray(vector[0], np.float32)

        def work(connection: sa.Connection) -> Result[Sequence[Hit]]:
            return partition.mirror(connection).nearest(question, predicate, k)

        return await self._database.read(work)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        names = [str(document) for document in documents]
        statement = sa.delete(table).where(*_of(index, names))

        def work(connection: sa.Connection) -> Result[int]:
            return Ok(connection.execute(statement).rowcount)

        return await self._write(index, work, lambda mirror: mirror.remove(names))

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        return await self.relabel_all(index, [document], readers)

    async def relabel_all(
        self, index: IndexId, documents: Sequence[DocumentId], readers: frozenset[ReaderToken]
    ) -> Result[int]:
        tokens, names = sorted(readers), [str(document) for document in documents]
        statement = (
            sa.update(table)
            .where(*_of(index, names), table.c.readers != tokens)
            .values(readers=tokens)
        )

        def work(connection: sa.Connection) -> Result[int]:
            return Ok(connection.execute(statement).rowcount)

        return await self._write(index, work, lambda mirror: mirror.relabel(names, readers))

    async def _write(
        self,
        index: IndexId,
        work: Callable[[sa.Connection], Result[int]],
        change: Callable[[VectorMirror], None],
    ) -> Result[int]:
        partition = self._partition(index)
        return await self._database.write(work, then=lambda _: partition.follow(change))

    def _partition(self, index: IndexId) -> _Partition:
        return self._partitions.setdefault(index, _Partition(index))


def _refusal(index: IndexId, chunks: Sequence[Chunk], vectors: Vectors) -> HumanText | None:
    if vectors.ndim != 2 or len(vectors) != len(chunks) or not np.isfinite(vectors).all():
        return NOT_VECTORS
    place = (index.tenant_id, index.corpus_id)
    foreign = any((chunk.tenant_id, chunk.corpus_id) != place for chunk in chunks)
    return FOREIGN_CHUNK if foreign else None


def _passages(chunks: Sequence[Chunk], vectors: Vectors) -> Passages:
    return Passages(
        chunk_ids=[str(chunk.id) for chunk in chunks],
        documents=[str(chunk.document_id) for chunk in chunks],
        readers=[chunk.readers for chunk in chunks],
        vectors=np.array(vectors, np.float32),
    )


def _of(index: IndexId, documents: Iterable[str] | None = None) -> list[sa.ColumnElement[bool]]:
    condition = [
        table.c.tenant_id == str(index.tenant_id),
        table.c.corpus_id == str(index.corpus_id),
        table.c.generation == index.generation,
    ]
    if documents is not None:
        condition.append(table.c.document_id.in_(texts(set(documents))))
    return condition


def _rows(index: IndexId, passages: Passages) -> list[Mapping[str, object]]:
    place = {
        "tenant_id": str(index.tenant_id),
        "corpus_id": str(index.corpus_id),
        "generation": index.generation,
    }
    columns = zip(
        passages.chunk_ids, passages.documents, passages.readers, passages.vectors, strict=True
    )
    return [
        {
            **place,
            "chunk_id": chunk,
            "document_id": document,
            "readers": sorted(readers),
            "embedding": vector.astype("<f4").tobytes(),
        }
        for chunk, document, readers, vector in columns
    ]


def _dimension(connection: sa.Connection, index: IndexId) -> int | None:
    query = sa.select(sa.func.length(table.c.embedding)).where(*_of(index)).limit(1)
    found = connection.scalar(query)
    return None if found is None else int(found) // 4


def _load(connection: sa.Connection, index: IndexId) -> VectorMirror:
    """Read an index part by part, so that it is never in memory twice."""
    mirror = VectorMirror(index)
    query = sa.select(
        table.c.chunk_id,
        table.c.document_id,
        sa.type_coerce(table.c.readers, AnyText),
        table.c.embedding,
    ).where(*_of(index))
    found = connection.execute(query, execution_options={"yield_per": LOADED_AT_ONCE})
    for part in found.partitions():
        chunk_ids, documents, readers, blobs = zip(*part, strict=True)
        flat = np.frombuffer(b"".join(blobs), "<f4").astype(np.float32, copy=False)
        vectors = flat.reshape(len(blobs), -1)
        mirror.add(Passages(chunk_ids, documents, [_readers(text) for text in readers], vectors))
    return mirror


@lru_cache(maxsize=4096)
def _readers(text: str) -> frozenset[ReaderToken]:
    return frozenset(map(ReaderToken, json.loads(text)))
