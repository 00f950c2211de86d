"""Term search over a dictionary, scored by BM25 among the visible passages alone."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

from cogni_adapters.memory.partition import Partition, Row, best, refuse_k
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_kernel import DocumentId, Ok, Result

SATURATION = 1.2
LENGTH_WEIGHT = 0.75

Terms = Counter[str]


class MemoryKeywordSearchAdapter(KeywordSearchPort):
    """Counts over what the caller may see, so that no score tells of a passage that is hidden."""

    def __init__(self) -> None:
        self._partitions: defaultdict[IndexId, Partition[Terms]] = defaultdict(Partition)

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], terms: Sequence[Sequence[str]]
    ) -> Result[int]:
        return Ok(self._partitions[index].replace_documents(chunks, map(Counter, terms)))

    async def search(
        self, index: IndexId, terms: Sequence[str], predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if (refused := refuse_k(k)) is not None:
            return refused
        rows = list(self._partitions[index].visible(predicate))
        return Ok(best(_scored(rows, sorted(set(terms))), k))

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        return Ok(self._partitions[index].delete(documents))

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        return Ok(self._partitions[index].relabel(document, readers))


def _scored(rows: Sequence[Row[Terms]], terms: Sequence[str]) -> list[Hit]:
    holding = {term: sum(term in row.indexed for row in rows) for term in terms}
    rarity = {
        term: log(1 + (len(rows) - count + 0.5) / (count + 0.5)) for term, count in holding.items()
    }
    mean = sum(row.indexed.total() for row in rows) / max(1, len(rows))
    return [
        Hit(
            row.chunk.id,
            row.chunk.document_id,
            sum(rarity[term] * _saturated(row.indexed, term, mean) for term in terms),
        )
        for row in rows
        if any(term in row.indexed for term in terms)
    ]


def _saturated(terms: Terms, term: str, mean: float) -> float:
    count = terms[term]
    length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * terms.total() / mean
    return count * (SATURATION + 1) / (count + SATURATION * length)
