"""Term search among the passages that the caller may see."""

from collections.abc import Sequence
from typing import Protocol

from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_kernel import DocumentId, Err, Ok, Result


class KeywordSearchPort(Protocol):
    """Implementations must pass `contracts.keyword_search.KeywordSearchContract`.

    Terms come from `knowledge.analysis` on both sides, so a query behaves alike in every engine. Partitions
    are those of `VectorStorePort`.
    """

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], terms: Sequence[Sequence[str]]
    ) -> Result[int]:
        """Replace everything that the index holds of these chunks' documents. `terms`: one list a chunk."""
        ...

    async def search(
        self, index: IndexId, terms: Sequence[str], predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        """Return the `k` best passages that hold a term and satisfy `predicate`, best first.

        The predicate is applied INSIDE the search. No terms find nothing. A passage is findable once
        `upsert` has returned.

        Args:
            k: 1 to 1,000.

        Errors:
            InvalidArgumentError: `k` is out of range.
        """
        ...

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        """Remove every passage of the documents; return how many went. Idempotent."""
        ...

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        """Change who may read a document's passages; return how many changed."""
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
