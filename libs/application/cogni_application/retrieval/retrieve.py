"""Question in, permitted passages out."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope, ScopePolicy
from cogni_domain.knowledge.analysis import analyse_question, is_blank
from cogni_domain.knowledge.corpus import Chunk, Corpus, Hit, ScoredChunk
from cogni_domain.knowledge.ranking import diversify, fuse, settle
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.reranker import RerankerPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_domain.run_record import RetrievalStep
from cogni_kernel import (
    ChunkId,
    ConflictError,
    CorpusId,
    Err,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    Ok,
    Result,
)

OVERFETCH = 48
MAX_FETCH = 1000
MAX_PER_DOCUMENT = 3

BLANK = HumanText("Please write a question.")
OTHER_MODEL = HumanText(
    "The search index was made with another model. Rebuild it before searching."
)

_Search = Callable[[Corpus, int], Awaitable[Result[Sequence[Hit]]]]


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """What to look for, for whom, and where.

    Attributes:
        k: At most this many passages come back.
    """

    question: str
    principal: Principal
    corpora: tuple[CorpusId, ...]
    k: int = 8


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What was found. `indexed_through` is the oldest of the corpora searched, None where one is unread."""

    chosen: tuple[ScoredChunk, ...]
    decision: RetrievalStep
    indexed_through: datetime | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing fits: the run must not answer from memory then."""
        return not self.chosen


@dataclass(frozen=True, slots=True)
class _Found:
    """One round of both searches, fused, and what the database let through."""

    current: Sequence[Chunk]
    asked: int
    exhausted: bool


@dataclass(frozen=True, slots=True)
class RetrievalService:
    """Finds what a person may read.

    Attributes:
        in_place: Searched instead of the corpora that they are of: an index that is judged before it serves.

    Source:
        COGNI.BUILD spec, package services, "RetrievalService"; DESIGN D3, D4, D16.
    """

    scopes: ScopePolicy
    documents: DocumentStorePort
    keywords: KeywordSearchPort
    vectors: VectorStorePort
    embedder: EmbedderPort
    reranker: RerankerPort
    relevance: RelevancePolicy
    in_place: tuple[Corpus, ...] = ()

    async def retrieve(self, request: RetrievalRequest) -> Result[RetrievalResult]:
        """Return the passages that fit, best first, at most three of one document.

        The scope is resolved here, from who asks; both searches apply it inside, and the database has the last
        word on every passage.

        Errors:
            InvalidArgumentError: The question is blank; nothing was embedded.
            NotPermittedError: The principal has no scope.
            ConflictError: An index was written by another embedder.
            UpstreamError: A store or model did not answer.
        """
        if is_blank(request.question):
            return Err(InvalidArgumentError(BLANK, ModelFacingText("Give a question in words.")))
        scope = await self.scopes.resolve(request.principal, request.corpora)
        if isinstance(scope, Err):
            return scope
        corpora = await self._corpora(scope.value)
        if isinstance(corpora, Err):
            return corpora
        found = await self._candidates(request, scope.value, corpora.value)
        if isinstance(found, Err):
            return found
        return await self._judged(request, scope.value, corpora.value, found.value)

    async def _judged(
        self, request: RetrievalRequest, scope: Scope, corpora: Sequence[Corpus], found: _Found
    ) -> Result[RetrievalResult]:
        """Look closely at the best candidates, and choose."""
        near, far = found.current[:OVERFETCH], found.current[OVERFETCH:]
        ranked = await self.reranker.rank(request.question, near)
        if isinstance(ranked, Err):
            return ranked
        chosen, cut = self._choose(request, ranked.value, [chunk.id for chunk in near])
        cut |= {str(chunk.id): "not among the first candidates" for chunk in far}
        stale = found.asked - len(found.current)
        step = RetrievalStep(scope.digest, tuple(str(c.chunk.id) for c in chosen), cut, stale)
        return Ok(RetrievalResult(chosen, step, _oldest(corpora)))

    async def _corpora(self, scope: Scope) -> Result[Sequence[Corpus]]:
        every = await self.documents.corpora(scope.tenant_id)
        if isinstance(every, Err):
            return every
        instead = {(c.tenant_id, c.id): c for c in self.in_place}
        wanted = [instead.get((c.tenant_id, c.id), c) for c in every.value if c.id in scope.corpora]
        if any(c.embedder_version != self.embedder.version for c in wanted):
            return Err(ConflictError(OTHER_MODEL, detail={"embedder": self.embedder.version}))
        return Ok(wanted)

    async def _candidates(
        self, request: RetrievalRequest, scope: Scope, corpora: Sequence[Corpus]
    ) -> Result[_Found]:
        """Search wide; search wider where the database refused hits and more may be there."""
        if not corpora:
            return Ok(_Found((), 0, exhausted=True))
        embedded = await self.embedder.embed([request.question])
        if isinstance(embedded, Err):
            return embedded
        terms = analyse_question(request.question)

        async def by_words(corpus: Corpus, k: int) -> Result[Sequence[Hit]]:
            return await self.keywords.search(corpus.index, terms, scope.predicate, k)

        async def by_meaning(corpus: Corpus, k: int) -> Result[Sequence[Hit]]:
            return await self.vectors.knn(corpus.index, embedded.value, scope.predicate, k)

        fetch = OVERFETCH
        while True:
            found = await self._round(scope, corpora, (by_words, by_meaning), fetch)
            if isinstance(found, Err):
                return found
            enough = len(found.value.current) >= min(request.k, found.value.asked)
            if enough or found.value.exhausted or fetch >= MAX_FETCH:
                return found
            fetch = min(MAX_FETCH, fetch * 4)

    async def _round(
        self, scope: Scope, corpora: Sequence[Corpus], searches: Sequence[_Search], fetch: int
    ) -> Result[_Found]:
        answers = await asyncio.gather(*(s(c, fetch) for s in searches for c in corpora))
        lists: list[Sequence[Hit]] = []
        for answer in answers:
            if isinstance(answer, Err):
                return answer
            lists.append(answer.value)
        starts = range(0, len(lists), len(corpora))
        rankings = [_merged(lists[at : at + len(corpora)], fetch) for at in starts]
        fused = fuse(rankings, fetch * len(rankings))
        current = await self.documents.current(fused, scope)
        if isinstance(current, Err):
            return current
        exhausted = all(len(found) < fetch for found in lists)
        return Ok(_Found(current.value, len(fused), exhausted))

    def _choose(
        self, request: RetrievalRequest, ranked: Sequence[ScoredChunk], fused: Sequence[ChunkId]
    ) -> tuple[tuple[ScoredChunk, ...], dict[str, str]]:
        """Keep what is evidence, at most three passages a document, and say why the rest was cut."""
        relevant = [c for c in settle(ranked, fused) if self.relevance.admits(c.score)]
        spread = diversify(relevant, MAX_PER_DOCUMENT)
        chosen = tuple(spread[: request.k])
        cut = {str(c.chunk.id): "below the relevance floor" for c in ranked}
        cut |= {str(c.chunk.id): "enough of this document" for c in relevant}
        cut |= {str(c.chunk.id): "beyond the number asked for" for c in spread}
        for kept in chosen:
            del cut[str(kept.chunk.id)]
        return chosen, cut


def _merged(found: Sequence[Sequence[Hit]], limit: int) -> list[ChunkId]:
    """Return one ranking over the corpora's partitions."""
    every = sorted((h for hits in found for h in hits), key=lambda h: (-h.score, h.chunk_id.value))
    return [hit.chunk_id for hit in every[:limit]]


def _oldest(corpora: Sequence[Corpus]) -> datetime | None:
    moments = [c.indexed_through for c in corpora]
    known = [m for m in moments if m is not None]
    return min(known) if known and len(known) == len(moments) else None
