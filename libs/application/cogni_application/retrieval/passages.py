"""The passages of one run: retrieved within its principal's scope, each with its handle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cogni_application.addresses import addresses_in
from cogni_application.retrieval.retrieve import RetrievalRequest, RetrievalService
from cogni_domain.access.principal import Principal
from cogni_domain.knowledge.citations import CitationIssuer
from cogni_domain.knowledge.corpus import Chunk
from cogni_domain.knowledge.search import CitedPassage, Passages
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.run_record import RetrievalStep
from cogni_kernel import CorpusId, DocumentId, Err, Ok, Result


@dataclass
class RunPassages(Passages):
    """What a run searches with; bound to one principal, so that no tool can widen it.

    Attributes:
        transcripts: Where handles are numbered, and citations kept before the model sees them.
        on_decision: Told of every retrieval decision.
        indexed_through: The oldest freshness of what was searched, None where some of it was never read through.
        urls: Canonical addresses in the passages.
    """

    retrieval: RetrievalService
    principal: Principal
    corpora: tuple[CorpusId, ...]
    k: int
    issuer: CitationIssuer
    transcripts: TranscriptStorePort
    on_decision: Callable[[RetrievalStep], None]
    indexed_through: datetime | None = None
    urls: frozenset[str] = frozenset()
    found: dict[str, CitedPassage] = field(default_factory=dict)

    async def search(self, question: str) -> Result[Sequence[CitedPassage]]:
        request = RetrievalRequest(question, self.principal, self.corpora, self.k)
        result = await self.retrieval.retrieve(request)
        if isinstance(result, Err):
            return result
        self.on_decision(result.value.decision)
        passages = await self.quote([scored.chunk for scored in result.value.chosen])
        if isinstance(passages, Ok):
            self.indexed_through = result.value.indexed_through
        return passages

    async def quote(self, chunks: Sequence[Chunk]) -> Result[Sequence[CitedPassage]]:
        """Give passages that this run's scope admits their handles; from then on they may be cited."""
        passages = await self._cited(chunks)
        if isinstance(passages, Err):
            return passages
        self.found.update({p.handle: p for p in passages.value})
        self.urls = self.urls.union(*(addresses_in(p.text) for p in passages.value))
        return passages

    async def _cited(self, chunks: Sequence[Chunk]) -> Result[Sequence[CitedPassage]]:
        """Number the passages within the conversation, where another run may be numbering too."""
        if not chunks:
            return Ok(())
        run, new = self.issuer.run, [c for c in chunks if not self.issuer.has_issued(c.id)]
        if new:
            first = await self.transcripts.reserve_handles(run, len(new))
            if isinstance(first, Err):
                return first
            self.issuer.go_on_from(first.value)
        passages = [CitedPassage(self.issuer.issue(chunk), chunk.text) for chunk in chunks]
        kept = await self.transcripts.keep_citations(run, [p.citation for p in passages])
        return kept if isinstance(kept, Err) else Ok(passages)

    def documents(self) -> frozenset[DocumentId]:
        """Return the documents whose passages the model was given."""
        return frozenset(p.citation.document_id for p in self.found.values())
