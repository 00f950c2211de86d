"""Sources that are followed for as long as the product runs: what changes there can be asked within moments."""

import asyncio
import logging
from dataclasses import dataclass, field

from cogni_application.background import forever
from cogni_application.indexing.follow import SourceFollower
from cogni_application.indexing.intake import qualified
from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_embedded.bootstrap import Product
from cogni_kernel import CorpusId, Err

RECONCILE_S = 900.0
LOOK_AGAIN_S = 2.0
NOT_THERE = Skipped(
    Reason.UNREADABLE,
    "The folder is not there any more, or another one is in its place. What was read of it stays; mount it or "
    "put it back, and it is read again.",
)

_log = logging.getLogger(__name__)


@dataclass
class Following:
    """Follows each source that was read into a corpus, now or before this process began.

    A source that goes away is listed as a gap and waited for; once it is back it is read anew. Every source is
    read anew now and then, which repairs what nobody told.
    """

    product: Product
    _following: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    _sweeping: "asyncio.Task[None] | None" = None

    async def start(self) -> None:
        """Ask for every known source to be read, and follow each from when that begins."""
        self.product.sources.on_reading = self.follow
        self._sweeping = asyncio.create_task(forever(self._read_all, RECONCILE_S))

    async def stop(self) -> None:
        """Follow nothing any more."""
        tasks = [*self._following.values(), *([self._sweeping] if self._sweeping else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def follow(self, job: Job) -> None:
        """Follow the source of an ingest, unless that is done already."""
        if job.key not in self._following:
            self._following[job.key] = asyncio.create_task(self._follow(job))

    async def _read_all(self) -> None:
        for job in self.product.sources.remembered():
            self.follow(job)
            if self.product.sources.connector_of(job) is not None:
                await self._read(job)

    async def _read(self, job: Job) -> None:
        corpus, _, source = job.key.partition("/")
        payload = {name: value for name, value in job.payload.items() if name != "corpus_id"}
        await self.product.indexing.request(job.tenant_id, CorpusId(corpus), source, payload)

    async def _follow(self, job: Job) -> None:
        while True:
            connector = self.product.sources.connector_of(job)
            corpus = await self._corpus(job)
            if connector is not None and corpus is not None:
                try:
                    await SourceFollower(self.product.indexing, corpus, connector).follow()
                except Exception:
                    _log.exception("%s cannot be followed", connector.id)
            await self._wait_for(job, corpus)
            await self._read(job)

    async def _wait_for(self, job: Job, corpus: Corpus | None) -> None:
        """Wait until a source that tells no more can be read again."""
        listed = False
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            connector = self.product.sources.connector_of(job)
            if connector is not None and await self._is_back(connector):
                return
            gone = self.product.sources.connector_to(job)
            if not listed and corpus is not None and gone is not None:
                place = qualified(gone, "")
                await self.product.indexing.intake.note(corpus, place, gone.id, NOT_THERE)
                listed = True

    async def _is_back(self, connector: ConnectorPort) -> bool:
        page = await connector.enumerate(None)
        return not isinstance(page, Err) and bool(
            page.value.documents or not page.value.is_doubtful
        )

    async def _corpus(self, job: Job) -> Corpus | None:
        documents = self.product.bindings.container.resolve(DocumentStorePort)
        found = await documents.corpora(job.tenant_id)
        corpora = [] if isinstance(found, Err) else found.value
        return next((c for c in corpora if str(c.id) == job.payload["corpus_id"]), None)
