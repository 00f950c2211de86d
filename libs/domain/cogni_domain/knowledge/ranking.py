"""Putting rankings together, and keeping one document from taking every place."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from cogni_domain.knowledge.corpus import ScoredChunk
from cogni_kernel import ChunkId

CONSTANT = 10
"""How little the first places count above the next ones; small, since a reranker looks at the result."""


def fuse(rankings: Sequence[Sequence[ChunkId]], limit: int) -> list[ChunkId]:
    """Return one ranking by reciprocal ranks, best first; every id once, ties by id.

    A passage that both searches find goes before one that only one of them does at the same place.
    """
    scores: defaultdict[ChunkId, float] = defaultdict(float)
    for ranking in rankings:
        for place, chunk in enumerate(dict.fromkeys(ranking), start=1):
            scores[chunk] += 1 / (CONSTANT + place)
    ordered = sorted(scores, key=lambda chunk: (-scores[chunk], chunk.value))
    return ordered[:limit]


def diversify(ranked: Sequence[ScoredChunk], max_per_document: int) -> list[ScoredChunk]:
    """Return the ranking without what comes after a document's first few passages."""
    taken: Counter[str] = Counter()
    kept = []
    for scored in ranked:
        document = scored.chunk.document_id.value
        taken[document] += 1
        if taken[document] <= max_per_document:
            kept.append(scored)
    return kept
