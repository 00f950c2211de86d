"""The gap list: what was not indexed and why, for administrators alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from cogni_application.attached_files import ATTACHMENTS
from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_kernel import CorpusId, Err, GrantKey, HumanText, NotPermittedError, Ok, Result

ADMINISTER = GrantKey("assistant.administer")
MOST = 1_000

NOT_YOURS = HumanText("There is no gap list that you can open.")


@dataclass(frozen=True, slots=True)
class CorpusGaps:
    """What one corpus lacks.

    Attributes:
        gaps: By source id, at most `MOST`.
        total: How many there are.
    """

    corpus: Corpus
    gaps: Sequence[Gap]
    total: int


@dataclass(frozen=True, slots=True)
class GapService:
    """Shows the gap lists of a tenant. It names documents and opens none; what persons attached is not on it.

    Source:
        DESIGN D2, D19.
    """

    documents: DocumentStorePort

    async def listed(
        self, principal: Principal, corpus: CorpusId | None = None
    ) -> Result[Sequence[CorpusGaps]]:
        """Return the gaps of every corpus, or of one, by its id.

        Errors:
            NotPermittedError: The principal is no person who administers the assistant.
        """
        administers = principal.kind is PrincipalKind.HUMAN and principal.has_grant(ADMINISTER)
        if principal.tenant_id is None or not administers:
            return Err(NotPermittedError(NOT_YOURS))
        corpora = await self.documents.corpora(principal.tenant_id)
        if isinstance(corpora, Err):
            return corpora
        shown = [c for c in corpora.value if c.id != ATTACHMENTS and corpus in (None, c.id)]
        found: list[CorpusGaps] = []
        for each in shown:
            gaps = await self.documents.gaps(each.tenant_id, each.id)
            if isinstance(gaps, Err):
                return gaps
            found.append(CorpusGaps(each, gaps.value[:MOST], len(gaps.value)))
        return Ok(found)
