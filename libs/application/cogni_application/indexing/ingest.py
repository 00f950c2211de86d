"""Reading a source from end to end: resumable, and without what is gone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cogni_application.indexing.intake import Intake, Taken, qualified
from cogni_application.lanes import LEASE
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind
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
)

INGEST = "ingest_source"
SWEEP_PAGE = 1000

NO_SOURCE = HumanText(
    "The source of this job is not connected any more. Connect it, then ingest again."
)
OTHER_HANDS = HumanText("Another process has taken this ingest over.")


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
        read = await self._read(job, corpus, connector)
        if isinstance(read, Err):
            return read
        swept = await self._sweep(job, corpus, connector)
        if isinstance(swept, Err):
            return swept
        return await self.documents.note_indexed_through(corpus, started)

    async def _read(self, job: LeasedJob, corpus: Corpus, connector: ConnectorPort) -> Result[None]:
        """Take in every document, page by page; a page that was taken in is checkpointed."""
        cursor = job.cursor or None
        progress = Progress()
        while True:
            page = await connector.enumerate(cursor)
            if isinstance(page, Err):
                return page
            for source in page.value.documents:
                taken = await self.intake.take(corpus, connector, source)
                if isinstance(taken, Err):
                    return taken
                progress = progress.plus(taken.value)
                self.on_progress(progress)
                if not await self._hold(job, cursor):
                    return Err(ConflictError(OTHER_HANDS))
            cursor = page.value.next_cursor
            if cursor is None:
                return Ok(None)
            if not await self._hold(job, cursor):
                return Err(ConflictError(OTHER_HANDS))

    async def _hold(self, job: LeasedJob, cursor: str | None) -> bool:
        held = await self.queue.checkpoint(job, cursor or "", LEASE)
        return isinstance(held, Err) or held.value

    async def _sweep(
        self, job: LeasedJob, corpus: Corpus, connector: ConnectorPort
    ) -> Result[None]:
        """Remove what the source does not list any more, judged by a listing of its own."""
        listed = await self._listed(connector)
        if isinstance(listed, Err):
            return listed
        prefix = qualified(connector, "")
        after = prefix
        while True:
            known = await self.documents.source_ids(corpus.tenant_id, corpus.id, after, SWEEP_PAGE)
            if isinstance(known, Err):
                return known
            mine = [(source, doc) for source, doc in known.value if source.startswith(prefix)]
            gone = [source for source, _ in mine if source not in listed.value]
            removed = await self._remove(corpus, gone)
            if isinstance(removed, Err):
                return removed
            if len(mine) < SWEEP_PAGE:
                return Ok(None)
            after = mine[-1][0]
            await self._hold(job, job.cursor)

    async def _listed(self, connector: ConnectorPort) -> Result[frozenset[str]]:
        listed: set[str] = set()
        cursor: str | None = None
        while True:
            page = await connector.enumerate(cursor)
            if isinstance(page, Err):
                return page
            listed.update(qualified(connector, d.source_id) for d in page.value.documents)
            cursor = page.value.next_cursor
            if cursor is None:
                return Ok(frozenset(listed))

    async def _remove(self, corpus: Corpus, source_ids: Sequence[str]) -> Result[None]:
        if not source_ids:
            return Ok(None)
        found = await self.documents.known(corpus.tenant_id, corpus.id, source_ids)
        if isinstance(found, Err):
            return found
        for source_id in source_ids:
            cleared = await self.documents.put_gaps(corpus.tenant_id, corpus.id, source_id, [])
            if isinstance(cleared, Err):
                return cleared
        return await self.intake.remove(found.value)

    async def on_change(
        self, corpus: Corpus, connector: ConnectorPort, event: ChangeEvent
    ) -> Result[None]:
        """Follow one change: a move or a new rule is mapped anew, a deletion is effective at once."""
        if event.kind is ChangeKind.DELETED or event.document is None:
            return await self._remove(corpus, [qualified(connector, event.source_id)])
        taken = await self.intake.take(corpus, connector, event.document)
        return taken if isinstance(taken, Err) else Ok(None)
