"""The passages of one run: retrieved within its principal's scope, each with its handle."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cogni_application.retrieval.retrieve import RetrievalRequest, RetrievalService
from cogni_application.turn.ground import canonical_url
from cogni_domain.access.principal import Principal
from cogni_domain.knowledge.citations import Citation, CitationIssuer
from cogni_domain.knowledge.search import CitedPassage, Passages
from cogni_domain.run_record import RetrievalStep
from cogni_kernel import CorpusId, DocumentId, Err, Ok, Result

_URL = re.compile(r"https?://[^\s<>\"'\]]+")


@dataclass
class RunPassages(Passages):
    """What a run searches with; bound to one principal, so that no tool can widen it.

    Attributes:
        keep: Persists citations before the model sees them.
        on_decision: Told of every retrieval decision.
        indexed_through: The oldest freshness of all searches so far.
        urls: Canonical URLs in the passages.
    """

    retrieval: RetrievalService
    principal: Principal
    corpora: tuple[CorpusId, ...]
    k: int
    issuer: CitationIssuer
    keep: Callable[[Sequence[Citation]], Awaitable[Result[None]]]
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
        passages = [
            CitedPassage(self.issuer.issue(scored.chunk), scored.chunk.text)
            for scored in result.value.chosen
        ]
        kept = await self.keep([p.citation for p in passages])
        if isinstance(kept, Err):
            return kept
        self.found.update({p.handle: p for p in passages})
        self.urls |= {
            canonical_url(u.rstrip(".,;:!?)")) for p in passages for u in _URL.findall(p.text)
        }
        self.indexed_through = result.value.indexed_through
        return Ok(passages)

    def documents(self) -> frozenset[DocumentId]:
        """Return the documents whose passages the model was given: the run's lineage."""
        return frozenset(p.citation.document_id for p in self.found.values())
