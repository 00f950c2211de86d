"""The indexes follow the database: jobs that embed, relabel and remove, a batch at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from cogni_domain.jobs import LeasedJob
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import Chunk, Corpus, IndexId
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import CorpusId, DocumentId, Err, HumanText, NotFoundError, Ok, Result, TenantId

NO_CORPUS = HumanText("The corpus of this document is gone.")


@dataclass(frozen=True, slots=True)
class IndexWriter:
    """Writes both indexes from what the database says now, so a late or repeated job does no harm.

    Source:
        COGNI.BUILD spec, package services, "IndexingService".
    """

    documents: DocumentStorePort
    keywords: KeywordSearchPort
    vectors: VectorStorePort
    embedder: EmbedderPort

    async def index(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Embed and write the passages of documents; what has none any more leaves the indexes."""
        result = await self._index(jobs)
        return [result] * len(jobs)

    async def _index(self, jobs: Sequence[LeasedJob]) -> Result[None]:
        for index, mine in (await self._by_index(jobs)).items():
            chunks: list[Chunk] = []
            gone: list[DocumentId] = []
            for document in dict.fromkeys(_document(job) for job in mine):
                found = await self.documents.chunks_of(index.tenant_id, document)
                if isinstance(found, Err):
                    return found
                chunks.extend(found.value)
                if not found.value:
                    gone.append(document)
            done = await self._write(index, chunks)
            if not isinstance(done, Err) and gone:
                done = await self._remove(index, gone)
            if isinstance(done, Err):
                return done
        return Ok(None)

    async def _write(self, index: IndexId, chunks: Sequence[Chunk]) -> Result[None]:
        if not chunks:
            return Ok(None)
        texts = [chunk.indexed_text for chunk in chunks]
        vectors = await self.embedder.embed(texts)
        if isinstance(vectors, Err):
            return vectors
        written = await self.vectors.upsert(index, chunks, vectors.value)
        if isinstance(written, Err):
            return written
        written = await self.keywords.upsert(index, chunks, [analyse(text) for text in texts])
        return written if isinstance(written, Err) else Ok(None)

    async def remove(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Take the passages of deleted documents out of the indexes."""
        result: Result[None] = Ok(None)
        for index, mine in (await self._by_index(jobs)).items():
            result = await self._remove(index, [_document(job) for job in mine])
            if isinstance(result, Err):
                break
        return [result] * len(jobs)

    async def _remove(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[None]:
        for store in (self.vectors, self.keywords):
            removed = await store.delete(index, documents)
            if isinstance(removed, Err):
                return removed
        return Ok(None)

    async def relabel(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Bring the readers of documents' passages up to date, without embedding."""
        return [await self._relabel(job) for job in jobs]

    async def _relabel(self, job: LeasedJob) -> Result[None]:
        document = _document(job)
        chunks = await self.documents.chunks_of(job.job.tenant_id, document)
        if isinstance(chunks, Err):
            return chunks
        for index in await self._by_index([job]):
            for store in (self.vectors, self.keywords):
                if not chunks.value:
                    changed = await store.delete(index, [document])
                else:
                    changed = await store.relabel(index, document, chunks.value[0].readers)
                if isinstance(changed, Err):
                    return changed
        return Ok(None)

    async def _by_index(self, jobs: Sequence[LeasedJob]) -> dict[IndexId, list[LeasedJob]]:
        found: dict[IndexId, list[LeasedJob]] = {}
        for job in jobs:
            corpus = CorpusId(job.job.payload["corpus_id"])
            known = await self._corpus(job.job.tenant_id, corpus)
            if isinstance(known, Ok):
                found.setdefault(known.value.index, []).append(job)
        return found

    async def _corpus(self, tenant: TenantId, corpus: CorpusId) -> Result[Corpus]:
        every = await self.documents.corpora(tenant)
        if isinstance(every, Err):
            return every
        mine = next((c for c in every.value if c.id == corpus), None)
        return Ok(mine) if mine else Err(NotFoundError(NO_CORPUS))


def _document(job: LeasedJob) -> DocumentId:
    return DocumentId(job.job.payload["document_id"])
