"""Reading a source from end to end: resumable, and without what is gone."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cogni_application.indexing.held_job import HeldJob
from cogni_application.indexing.intake import Intake, Taken, qualified
from cogni_application.lanes import MAX_ATTEMPTS
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_engine import Clock
from cogni_kernel import (
    ConflictError,
    CorpusId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    Result,
    TenantId,
    UpstreamError,
)

INGEST = "ingest_source"
SWEEP_PAGE = 1000

NO_SOURCE = HumanText(
    "The source of this job is not connected any more. Connect it, then ingest again."
)
OTHER_HANDS = HumanText("Another process has taken this ingest over.")
BUG = HumanText("This document could not be taken in.")
AS_BEFORE = "It stays as it was indexed before, if it was. Look at it at its source."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is. Counts of source documents, by what became of them."""

    seen: int = 0
    indexed: int = 0
    relabelled: int = 0
    unchanged: int = 0
    skipped: int = 0
    removed: int = 0

    def plus(self, taken: Taken) -> "Progress":
        """Count one more document."""
        name = {Taken.GONE: "removed"}.get(taken, taken.value)
        return replace(self, seen=self.seen + 1, **{name: getattr(self, name) + 1})


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class IndexingService:
    """Ingests sources and follows their changes.

    Attributes:
        connector_of: Returns the connector that a job's payload names, None where it is gone.
        on_progress: Told after every document.

    Source:
        COGNI.BUILD spec, package services, "IndexingService".
    """

    documents: DocumentStorePort
    queue: QueuePort
    intake: Intake
    clock: Clock
    connector_of: Callable[[Job], ConnectorPort | None]
    on_progress: OnProgress = lambda _: None

    async def request(
        self, tenant: TenantId, corpus: CorpusId, source: str, payload: dict[str, str]
    ) -> Result[bool]:
        """Ask for an ingest; False where the same one waits or runs already.

        Args:
            source: Names the source within the corpus.
            payload: What `connector_of` needs to connect it again, in any process.
        """
        job = Job(INGEST, tenant, f"{corpus}/{source}", {**payload, "corpus_id": str(corpus)})
        return await self.queue.enqueue(job, Lane.INDEXING)

    async def ingest(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Read sources from where each stopped; the handler of `INGEST` jobs."""
        return [await self._ingest(job) for job in jobs]

    async def _ingest(self, job: LeasedJob) -> Result[None]:
        corpora = await self.documents.corpora(job.job.tenant_id)
        if isinstance(corpora, Err):
            return corpora
        wanted = CorpusId(job.job.payload["corpus_id"])
        corpus = next((c for c in corpora.value if c.id == wanted), None)
        connector = self.connector_of(job.job)
        if corpus is None or connector is None:
            return Err(NotFoundError(NO_SOURCE))
        started = self.clock.now()
        held = HeldJob(self.queue, job, self.clock)
        read = await self._read(held, corpus, connector)
        if isinstance(read, Err):
            return read
        swept = await self._sweep(held, corpus, connector)
        if isinstance(swept, Err):
            return swept
        return await self.documents.note_indexed_through(corpus, started)

    async def _read(self, held: HeldJob, corpus: Corpus, connector: ConnectorPort) -> Result[None]:
        """Take in every document, page by page; a page that was taken in is checkpointed."""
        cursor = held.cursor
        progress = Progress()
        while True:
            page = await connector.enumerate(cursor)
            if isinstance(page, Err):
                return page
            for source in page.value.documents:
                if not await held.at(cursor):
                    return Err(ConflictError(OTHER_HANDS))
                taken = await self._take(held, corpus, connector, source)
                if isinstance(taken, Err):
                    return taken
                progress = progress.plus(taken.value)
                self.on_progress(progress)
            if page.value.next_cursor is None:
                return Ok(None)
            cursor = page.value.next_cursor

    async def _take(
        self, held: HeldJob, corpus: Corpus, connector: ConnectorPort, source: SourceDocument
    ) -> Result[Taken]:
        """Take one document in; one that cannot be is listed, and holds up no other.

        What may work later is left to the next attempt of the job, as long as there is one.
        """
        try:
            taken = await self.intake.take(corpus, connector, source)
        except Exception as bug:
            _log.exception("%s could not be taken in", qualified(connector, source.source_id))
            taken = Err(UpstreamError(BUG, retryable=False, detail={"bug": repr(bug)}))
        if isinstance(taken, Ok) or (taken.error.retryable and held.attempt < MAX_ATTEMPTS):
            return taken
        source_id = qualified(connector, source.source_id)
        why = Skipped(Reason.UNREADABLE, f"{taken.error.message} {AS_BEFORE}")
        return await self.intake.note(corpus, source_id, source.name, why)

    async def _sweep(self, held: HeldJob, corpus: Corpus, connector: ConnectorPort) -> Result[None]:
        """Remove what the source does not list any more, judged by a listing of its own."""
        listed = await self._listed(held, connector)
        if isinstance(listed, Err):
            return listed
        prefix = qualified(connector, "")
        after = prefix
        while True:
            known = await self.documents.source_ids(corpus.tenant_id, corpus.id, after, SWEEP_PAGE)
            if isinstance(known, Err):
                return known
            mine = [source for source, _ in known.value if source.startswith(prefix)]
            removed = await self._remove(corpus, [s for s in mine if s not in listed.value])
            if isinstance(removed, Err):
                return removed
            if len(mine) < SWEEP_PAGE:
                return await self._clear_gaps(corpus, prefix, listed.value)
            after = mine[-1]

    async def _clear_gaps(
        self, corpus: Corpus, prefix: str, listed: frozenset[str]
    ) -> Result[None]:
        """Drop the gaps of what is not at the source any more, also where it was never indexed."""
        found = await self.documents.gaps(corpus.tenant_id, corpus.id)
        if isinstance(found, Err):
            return found
        roots = {gap.source_id.partition("!")[0] for gap in found.value}
        gone = sorted(r for r in roots if r.startswith(prefix) and r not in listed)
        return await self._remove(corpus, gone)

    async def _listed(self, held: HeldJob, connector: ConnectorPort) -> Result[frozenset[str]]:
        listed: set[str] = set()
        cursor: str | None = None
        while True:
            page = await connector.enumerate(cursor)
            if isinstance(page, Err):
                return page
            if not await held.at(held.cursor):
                return Err(ConflictError(OTHER_HANDS))
            listed.update(qualified(connector, d.source_id) for d in page.value.documents)
            cursor = page.value.next_cursor
            if cursor is None:
                return Ok(frozenset(listed))

    async def _remove(self, corpus: Corpus, source_ids: Sequence[str]) -> Result[None]:
        for source_id in source_ids:
            gone = await self.intake.leave_out(corpus, source_id, "")
            if isinstance(gone, Err):
                return gone
        return Ok(None)

    async def on_change(
        self, corpus: Corpus, connector: ConnectorPort, event: ChangeEvent
    ) -> Result[None]:
        """Follow one change: a move or a new rule is mapped anew, a deletion is effective at once."""
        if event.kind is ChangeKind.DELETED or event.document is None:
            return await self._remove(corpus, [qualified(connector, event.source_id)])
        taken = await self.intake.take(corpus, connector, event.document)
        return taken if isinstance(taken, Err) else Ok(None)
