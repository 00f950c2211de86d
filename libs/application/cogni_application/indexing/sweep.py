"""A listing of a source, held against what is known of it: the backstop for everything that nobody heard of."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from cogni_application.indexing.held_job import HeldJob
from cogni_application.indexing.intake import Intake, Taken, is_current, qualified
from cogni_application.indexing.news import News
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Corpus, Document
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.knowledge.source import SourceDocument
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_kernel import ConflictError, Err, HumanText, Ok, Result, UpstreamError

SWEEP_PAGE = 1000

OTHER_HANDS = HumanText("Another process has taken this ingest over.")
EMPTIED = HumanText(
    "The source lists nothing any more, so nothing was removed: a disk may not be mounted, or an account may "
    "have lost its rights. Mend that and ingest again; if all of it is to go, leave one document there."
)

_Take = Callable[[SourceDocument], Awaitable[Result[Taken]]]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Removes what the source does not list any more, and takes in what it lists otherwise than it is known.

    Where a source lists nothing, and cannot vouch for that, nothing is removed.

    Attributes:
        take: Takes one document in.

    Source:
        COGNI.BUILD spec, package services, "IndexingService".
    """

    documents: DocumentStorePort
    intake: Intake
    news: News
    corpus: Corpus
    connector: ConnectorPort
    take: _Take

    async def run(self, held: HeldJob) -> Result[Sequence[Taken]]:
        """Return what was repaired, one entry a document.

        Errors:
            ConflictError: The job is in other hands by now.
            UpstreamError: The source or the store did not answer, or the source lists nothing any more.
        """
        listed = await self._listed(held)
        if isinstance(listed, Err):
            return listed
        known = await self._known()
        if isinstance(known, Err):
            return known
        if known.value and listed.value is None:
            return await self._not_believed()
        now = listed.value or {}
        gone = [source for source in known.value if source not in now]
        removed = await self._gone(gone)
        if isinstance(removed, Err):
            return removed
        cleared = await self._clear_gaps(now)
        if isinstance(cleared, Err):
            return cleared
        repaired = await self._repair(now, known.value, cleared.value)
        return repaired.map(lambda taken: [*removed.value, *taken])

    async def _listed(self, held: HeldJob) -> Result[Mapping[str, SourceDocument] | None]:
        """Return the whole listing by qualified id; None where it is empty and not to be believed."""
        listed: dict[str, SourceDocument] = {}
        cursor: str | None = None
        while True:
            page = await self.connector.enumerate(cursor)
            if isinstance(page, Err):
                return page
            if not await held.at(held.cursor):
                return Err(ConflictError(OTHER_HANDS))
            listed.update((self._name(d.source_id), d) for d in page.value.documents)
            cursor = page.value.next_cursor
            if cursor is None:
                return Ok(None if page.value.is_doubtful and not listed else listed)

    async def _known(self) -> Result[Mapping[str, Document]]:
        found: dict[str, Document] = {}
        prefix = after = self._name("")
        place = (self.corpus.tenant_id, self.corpus.id)
        while True:
            page = await self.documents.source_ids(*place, after, SWEEP_PAGE)
            if isinstance(page, Err):
                return page
            mine = [source for source, _ in page.value if source.startswith(prefix)]
            rows = await self.documents.known(*place, mine)
            if isinstance(rows, Err):
                return rows
            found.update((document.source_id, document) for document in rows.value)
            if len(mine) < SWEEP_PAGE:
                return Ok(found)
            after = mine[-1]

    async def _not_believed(self) -> Result[Sequence[Taken]]:
        why = Skipped(Reason.UNREADABLE, str(EMPTIED))
        noted = await self.intake.note(self.corpus, self._name(""), self.connector.id, why)
        if isinstance(noted, Err):
            return noted
        return Err(UpstreamError(EMPTIED, retryable=False))

    async def _gone(self, source_ids: Sequence[str]) -> Result[Sequence[Taken]]:
        heard = {self._name(source_id) for source_id in self.news.heard(self.connector.id)}
        still = [source_id for source_id in source_ids if source_id not in heard]
        removed = await self.intake.leave_all_out(self.corpus, still)
        return removed.map(lambda _: [Taken.GONE] * len(still))

    async def _clear_gaps(self, now: Mapping[str, SourceDocument]) -> Result[frozenset[str]]:
        """Drop the gaps of what is not at the source any more; return what has others."""
        found = await self.documents.gaps(self.corpus.tenant_id, self.corpus.id)
        if isinstance(found, Err):
            return found
        prefix = self._name("")
        roots = {gap.source_id.partition("!")[0] for gap in found.value}
        mine = frozenset(root for root in roots if root.startswith(prefix))
        cleared = await self.intake.leave_all_out(self.corpus, sorted(mine - now.keys()))
        return cleared.map(lambda _: mine & now.keys())

    async def _repair(
        self,
        now: Mapping[str, SourceDocument],
        known: Mapping[str, Document],
        gaps: frozenset[str],
    ) -> Result[Sequence[Taken]]:
        repaired: list[Taken] = []
        for name, source in now.items():
            document = known.get(name)
            if (name in gaps) if document is None else _is_as_listed(document, source):
                continue
            taken = await self.take(source)
            if isinstance(taken, Err):
                return taken
            repaired.append(taken.value)
        return Ok(repaired)

    def _name(self, source_id: str) -> str:
        return qualified(self.connector, source_id)


def _is_as_listed(document: Document, source: SourceDocument) -> bool:
    return (
        isinstance(source.rule, AccessRule)
        and document.rule.digest == source.rule.digest
        and is_current(document, source)
    )
