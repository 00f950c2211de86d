"""Reading a source from end to end: resumable, and without what is gone."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cogni_application.indexing.held_job import HeldJob
from cogni_application.indexing.intake import Intake, Taken, qualified
from cogni_application.indexing.news import News
from cogni_application.indexing.sweep import OTHER_HANDS, Sweep
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

NO_SOURCE = HumanText(
    "The source of this job is not connected any more. Connect it, then ingest again."
)
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
        return replace(self.repaired(taken), seen=self.seen + 1)

    def repaired(self, taken: Taken) -> "Progress":
        """Count what a sweep made of a document that is counted already, or is not there to be counted."""
        name = {Taken.GONE: "removed"}.get(taken, taken.value)
        return replace(self, **{name: getattr(self, name) + 1})


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
    news: News = field(default_factory=News)

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
        with self.news.kept(connector.id):
            return await self._reconcile(HeldJob(self.queue, job, self.clock), corpus, connector)

    async def _reconcile(
        self, held: HeldJob, corpus: Corpus, connector: ConnectorPort
    ) -> Result[None]:
        """Read the source, then sweep; what differed from what was known is counted, and logged."""
        started = self.clock.now()
        read = await self._read(held, corpus, connector)
        if isinstance(read, Err):
            return read
        swept = await self._sweep(held, corpus, connector)
        if isinstance(swept, Err):
            return swept
        progress = read.value
        for taken in swept.value:
            progress = progress.repaired(taken)
        if swept.value:
            self.on_progress(progress)
        _log.info("reconciled %s of corpus %s: %s", connector.id, corpus.id, progress)
        return await self.documents.note_indexed_through(corpus, started)

    async def _read(
        self, held: HeldJob, corpus: Corpus, connector: ConnectorPort
    ) -> Result[Progress]:
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
                return Ok(progress)
            cursor = page.value.next_cursor

    async def _take(
        self, held: HeldJob, corpus: Corpus, connector: ConnectorPort, source: SourceDocument
    ) -> Result[Taken]:
        """Take one document in; one that cannot be is listed, and holds up no other.

        What may work later is left to the next attempt of the job, as long as there is one. What was heard of
        the document since it was listed counts more than the listing.
        """
        heard = self.news.of(connector.id, source.source_id)
        if heard is not None:
            if heard.document is None or heard.document.source_id != source.source_id:
                return Ok(Taken.UNCHANGED)
            source = heard.document
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

    async def _sweep(
        self, held: HeldJob, corpus: Corpus, connector: ConnectorPort
    ) -> Result[Sequence[Taken]]:
        """Repair what the listing, made once more, and what is known differ in."""

        async def take(source: SourceDocument) -> Result[Taken]:
            return await self._take(held, corpus, connector, source)

        sweep = Sweep(self.documents, self.intake, self.news, corpus, connector, take)
        return await sweep.run(held)

    async def on_change(
        self, corpus: Corpus, connector: ConnectorPort, event: ChangeEvent
    ) -> Result[None]:
        """Follow one change: a move or a new rule is mapped anew, a deletion is effective at once."""
        self.news.note(connector.id, [event])
        if event.kind is ChangeKind.DELETED or event.document is None:
            gone = [qualified(connector, event.source_id)]
            return await self.intake.leave_all_out(corpus, gone)
        if event.source_id != event.document.source_id:
            taken = await self.intake.move(corpus, connector, event, event.document)
        else:
            taken = await self.intake.take(corpus, connector, event.document)
        return taken if isinstance(taken, Err) else Ok(None)

    async def on_changes(
        self, corpus: Corpus, connector: ConnectorPort, events: Sequence[ChangeEvent]
    ) -> Result[None]:
        """Follow many changes at once, none of which needs content to be read: deletions, then new rules.

        Whatever else is among them is followed one by one.
        """
        self.news.note(connector.id, events)
        gone = [e.source_id for e in events if e.kind is ChangeKind.DELETED]
        removed = await self.intake.leave_all_out(corpus, [qualified(connector, s) for s in gone])
        if isinstance(removed, Err):
            return removed
        rules = [e.document for e in events if e.kind is ChangeKind.ACL_CHANGED and e.document]
        relabelled = await self.intake.relabel_all(corpus, connector, rules)
        if isinstance(relabelled, Err):
            return relabelled
        for event in events:
            if event.kind is not ChangeKind.DELETED and event.source_id not in relabelled.value:
                done = await self.on_change(corpus, connector, event)
                if isinstance(done, Err):
                    return done
        return Ok(None)
