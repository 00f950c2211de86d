"""Nearest neighbours among the passages that the caller may see."""

from collections.abc import Sequence
from typing import Protocol

from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.ports.embedder import Vectors
from cogni_kernel import DocumentId, Err, Ok, Result


class VectorStorePort(Protocol):
    """Implementations must pass `contracts.vector_store.VectorStoreContract`.

    An index is the partition: it holds one tenant's corpus and nothing else, and comes into being with
    its first chunk.
    """

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], vectors: Vectors
    ) -> Result[int]:
        """Replace everything that the index holds of these chunks' documents; return how many rows stand.

        All chunks of a document come in one call. Idempotent.
        """
        ...

    async def knn(
        self, index: IndexId, vector: Vectors, predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        """Return the `k` nearest passages that satisfy `predicate`, best first, or all there are.

        The predicate is applied INSIDE the search: filtering afterwards returns fewer than `k` and lets a
        near miss reveal that a document exists.

        Args:
            vector: Shape (1, d), length 1.
            k: 1 to 1,000.

        Errors:
            InvalidArgumentError: `k` is out of range, or the vector is of another dimension.
        """
        ...

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        """Remove every passage of the documents; return how many went. Idempotent."""
        ...

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        """Change who may read a document's passages, without embedding; return how many changed."""
        ...

    async def relabel_all(
        self, index: IndexId, documents: Sequence[DocumentId], readers: frozenset[ReaderToken]
    ) -> Result[int]:
        """Give the passages of many documents the same readers; return how many changed.

        One by one, unless an adapter knows better.
        """
        changed = 0
        for document in documents:
            done = await self.relabel(index, document, readers)
            if isinstance(done, Err):
                return done
            changed += done.value
        return Ok(changed)
