"""The jobs of a rebuild: one writes a batch of documents to the shadow and asks for the next, one empties an index."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from cogni_application.indexing.index import IndexWriter
from cogni_application.rebuild.rebuild import corpus_of, fill_job
from cogni_domain.jobs import LeasedJob
from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.knowledge.rebuild import Rebuild, RebuildState
from cogni_domain.ports.rebuild_store import RebuildStorePort
from cogni_engine import Clock
from cogni_kernel import CorpusId, DocumentId, Err, Ok, Result

BATCH = 32
"""Documents a job: short enough that what people changed never waits long behind a rebuild."""

ATTEMPTS = 5
"""How often a batch is written at once where documents change under it."""

EMPTIED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ShadowFiller:
    """Writes every document to the shadow index, batch after batch.

    A batch that was written but not counted is written again; one that was counted has its successor in the
    queue, by the same transaction. So a rebuild goes on from wherever its process was killed.

    Attributes:
        writer: With the embedder that new indexes are made with.

    Source:
        COGNI.BUILD spec, package services, "RebuildService"; DESIGN D7.
    """

    rebuilds: RebuildStorePort
    writer: IndexWriter
    clock: Clock
    batch: int = BATCH

    async def fill(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Write batches, each by itself."""
        return [await self._fill(leased) for leased in jobs]

    async def _fill(self, leased: LeasedJob) -> Result[None]:
        tenant, payload = leased.job.tenant_id, leased.job.payload
        corpus, step = CorpusId(payload["corpus_id"]), int(payload["step"])
        found = await self.rebuilds.under_way(tenant, corpus)
        if isinstance(found, Err):
            return found
        rebuild = found.value
        if rebuild is None or not _is_next(rebuild, payload["generation"], step):
            return Ok(None)
        documents = [DocumentId(document) for document in json.loads(payload["document_ids"])]
        written = await self._write(rebuild, documents)
        return written if isinstance(written, Err) else await self._go_on(rebuild, documents)

    async def _write(self, rebuild: Rebuild, documents: Sequence[DocumentId]) -> Result[None]:
        corpus = await corpus_of(self.writer.documents, rebuild.tenant_id, rebuild.corpus_id)
        if isinstance(corpus, Err):
            return corpus
        shadow = rebuild.target(rebuild.generation, corpus.value)
        written: Result[None] = Ok(None)
        for _ in range(ATTEMPTS if documents else 0):
            written = await self.writer.index_now(shadow, documents)
            if isinstance(written, Ok) or not written.error.retryable:
                return written
        return written

    async def _go_on(self, rebuild: Rebuild, done: Sequence[DocumentId]) -> Result[None]:
        """Count the batch, and ask for the next one; after the last, the shadow is ready."""
        after = str(done[-1]) if done else rebuild.after
        place = (rebuild.tenant_id, rebuild.corpus_id)
        found = await self.rebuilds.documents(*place, after, self.batch)
        if isinstance(found, Err):
            return found
        jobs = [fill_job(rebuild, rebuild.step + 1, found.value)] if found.value else []
        advanced = await self.rebuilds.advance(rebuild, done, self.clock.now(), jobs)
        return advanced.map(lambda _: None)

    async def purge(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Empty indexes that nobody goes back to."""
        return [await self._purge(leased) for leased in jobs]

    async def _purge(self, leased: LeasedJob) -> Result[None]:
        tenant, corpus = leased.job.tenant_id, CorpusId(leased.job.payload["corpus_id"])
        known = await corpus_of(self.writer.documents, tenant, corpus)
        if isinstance(known, Err):
            return known
        index = IndexId(tenant, corpus, int(leased.job.payload["generation"]))
        if index == known.value.index:
            return Ok(None)
        after = ""
        while True:
            found = await self.rebuilds.documents(tenant, corpus, after, EMPTIED_AT_ONCE)
            if isinstance(found, Err):
                return found
            if not found.value:
                return Ok(None)
            removed = await self._remove(index, found.value)
            if isinstance(removed, Err):
                return removed
            after = str(found.value[-1])

    async def _remove(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[None]:
        deletions: list[Callable[..., Awaitable[Result[int]]]] = [
            self.writer.vectors.delete,
            self.writer.keywords.delete,
        ]
        for delete in deletions:
            removed = await delete(index, documents)
            if isinstance(removed, Err):
                return removed
        return Ok(None)


def _is_next(rebuild: Rebuild, generation: str, step: int) -> bool:
    place = (str(rebuild.generation), rebuild.step, rebuild.state)
    return place == (generation, step, RebuildState.FILLING)
