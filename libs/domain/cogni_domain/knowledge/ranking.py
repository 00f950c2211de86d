"""Putting rankings together, and keeping one document from taking every place."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum

from cogni_domain.knowledge.corpus import ScoredChunk
from cogni_kernel import ChunkId

CONSTANT = 10
"""How little the first places count above the next ones; small, since a reranker looks at the result."""
PLACE_COST = 0.007
"""Of a reranker's score, for each place further down the fused ranking."""
COMPANY_SHARE = 0.11
"""Of the score of the best other passage of the same document, added to each of its passages."""


def fuse(
    rankings: Sequence[Sequence[ChunkId]],
    limit: int,
    *,
    weights: Sequence[float] | None = None,
    constant: int = CONSTANT,
) -> list[ChunkId]:
    """Return one ranking by reciprocal ranks, best first; every id once, ties by id.

    A passage that several rankings have goes before one that a single ranking has at the same place. Only
    places count, so that scores of different searches need not be comparable.

    Args:
        rankings: Best first; an id that comes again counts at its first place.
        limit: At most this many come back.
        weights: How much each ranking counts, all the same by default.
        constant: Added to each place; the larger, the less the first places stand out.

    Raises:
        ValueError: There is not one weight for each ranking.
    """
    shares: defaultdict[ChunkId, list[float]] = defaultdict(list)
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for place, chunk in enumerate(dict.fromkeys(ranking), start=1):
            shares[chunk].append(weight / (constant + place))
    # An exact sum, or the order of the rankings would decide between equals.
    ordered = sorted(shares, key=lambda chunk: (-fsum(shares[chunk]), chunk.value))
    return ordered[:limit]


def settle(judged: Sequence[ScoredChunk], fused: Sequence[ChunkId]) -> list[ScoredChunk]:
    """Return what a reranker judged in its final order, the scores as they were.

    A reranker reads each passage alone. That both searches had put it first speaks for it, and so does another
    passage of its document that fits too. How much either counts: docs/adr/0024-the-final-order.md.

    Args:
        judged: As the reranker scored them; every one is among `fused`.
        fused: All that was put before the reranker, best first.
    """
    place = {chunk.value: at for at, chunk in enumerate(fused)}
    worth = [hit.score - PLACE_COST * place[hit.chunk.id.value] for hit in judged]
    of_document: defaultdict[str, list[int]] = defaultdict(list)
    for at, hit in enumerate(judged):
        of_document[hit.chunk.document_id.value].append(at)
    settled = worth.copy()
    for places in of_document.values():
        for at in places if len(places) > 1 else ():
            company = max(worth[other] for other in places if other != at)
            settled[at] += COMPANY_SHARE * max(0.0, company)
    return [judged[at] for at in sorted(range(len(judged)), key=settled.__getitem__, reverse=True)]


def diversify(ranked: Sequence[ScoredChunk], max_per_document: int = 3) -> list[ScoredChunk]:
    """Return the ranking without what comes after a document's first few passages.

    Many near-identical passages of one document answer narrowly and confidently.
    """
    taken: Counter[str] = Counter()
    kept = []
    for scored in ranked:
        document = scored.chunk.document_id.value
        taken[document] += 1
        if taken[document] <= max_per_document:
            kept.append(scored)
    return kept
