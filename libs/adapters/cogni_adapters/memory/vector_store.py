"""Exact nearest neighbours over a dictionary."""

from collections import defaultdict
from collections.abc import Sequence

from cogni_adapters.memory.partition import Partition, best, refuse_k
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import DocumentId, Err, HumanText, InvalidArgumentError, Ok, Result

OTHER_DIMENSION = Err(
    InvalidArgumentError(HumanText("This index was written by another embedding model."))
)


class MemoryVectorStoreAdapter(VectorStorePort):
    """Compares with every visible passage."""

    def __init__(self) -> None:
        self._partitions: defaultdict[IndexId, Partition[Vectors]] = defaultdict(Partition)
        self._dimensions: dict[IndexId, int] = {}

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], vectors: Vectors
    ) -> Result[int]:
        if not chunks:
            return Ok(0)
        if self._dimensions.setdefault(index, vectors.shape[1]) != vectors.shape[1]:
            return OTHER_DIMENSION
        return Ok(self._partitions[index].replace_documents(chunks, vectors.copy()))

    async def knn(
        self, index: IndexId, vector: Vectors, predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if (refused := refuse_k(k)) is not None:
            return refused
        if index not in self._partitions:
            return Ok([])
        if vector.shape != (1, self._dimensions[index]):
            return OTHER_DIMENSION
        hits = (
            Hit(row.chunk.id, row.chunk.document_id, float(row.indexed @ vector[0]))
            for row in self._partitions[index].visible(predicate)
        )
        return Ok(best(hits, k))

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        return Ok(self._partitions[index].delete(documents) if index in self._partitions else 0)

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        if index not in self._partitions:
            return Ok(0)
        return Ok(self._partitions[index].relabel(document, readers))
