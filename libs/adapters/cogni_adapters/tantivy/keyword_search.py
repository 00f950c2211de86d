"""Term search by Tantivy, one folder an index."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from cogni_adapters.tantivy.partition import Partition
from cogni_adapters.tantivy.partitions import Partitions
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_kernel import (
    ConflictError,
    DocumentId,
    Err,
    HumanText,
    InvalidArgumentError,
    Ok,
    Result,
    UpstreamError,
)

MAX_K = 1_000

IN_USE = HumanText(
    "The search index is written by another process. Stop that one, or ask through it."
)
BROKEN = HumanText(
    "The search index could not be read or written. Check that its disk has space, then try again."
)


class TantivyKeywordSearchAdapter(KeywordSearchPort):
    """Keeps its indexes under `folder`, which one process at a time writes to.

    Relabelling writes a document's passages anew from their stored terms. A term that a question holds
    twice weighs twice.

    Source:
        DESIGN D2, D4, D9; docs/adr/0003-keyword-scores.md.
    """

    def __init__(self, folder: Path) -> None:
        self._partitions = Partitions(folder)

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], terms: Sequence[Sequence[str]]
    ) -> Result[int]:
        passages = list(zip(chunks, terms, strict=True))
        if not passages:
            return Ok(0)
        return await asyncio.to_thread(self._write, index, lambda to: to.replace(passages))

    async def search(
        self, index: IndexId, terms: Sequence[str], predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if not 1 <= k <= MAX_K:
            message = HumanText(f"Between 1 and {MAX_K} passages can be asked for.")
            return Err(InvalidArgumentError(message))
        return await asyncio.to_thread(self._search, index, terms, predicate, k)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        return await asyncio.to_thread(self._change, index, lambda of: of.delete(documents))

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        return await self.relabel_all(index, [document], readers)

    async def relabel_all(
        self, index: IndexId, documents: Sequence[DocumentId], readers: frozenset[ReaderToken]
    ) -> Result[int]:
        return await asyncio.to_thread(
            self._change, index, lambda of: of.relabel(documents, readers)
        )

    async def close(self) -> None:
        """Let merges end, and another process write."""
        await asyncio.to_thread(self._close)

    def _search(
        self, index: IndexId, terms: Sequence[str], predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        try:
            partition = self._partitions.to_read(index)
            return Ok([] if partition is None else partition.search(terms, predicate, k))
        except (ValueError, OSError) as error:
            return _broken(index, error)

    def _change(self, index: IndexId, work: Callable[[Partition], int]) -> Result[int]:
        """Do work on what is there; where nothing is, there is nothing to do."""
        return self._write(index, work) if self._partitions.exists(index) else Ok(0)

    def _write(self, index: IndexId, work: Callable[[Partition], int]) -> Result[int]:
        with self._partitions.writing:
            try:
                partition = self._partitions.to_write(index)
                return Err(ConflictError(IN_USE)) if partition is None else Ok(work(partition))
            except (ValueError, OSError) as error:
                return _broken(index, error)

    def _close(self) -> None:
        with self._partitions.writing:
            self._partitions.close()


def _broken(index: IndexId, error: Exception) -> Err:
    return Err(UpstreamError(BROKEN, detail={"index": str(index), "error": str(error)}))
