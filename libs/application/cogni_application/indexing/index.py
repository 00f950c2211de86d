"""The indexes follow the database: jobs that embed, relabel and remove, a batch at a time."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cogni_application.indexing.standing import documents_of
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.jobs import LeasedJob
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import Chunk, Corpus, IndexId
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import (
    ChunkId,
    ConflictError,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    Result,
    TenantId,
    UpstreamError,
)

NO_CORPUS = HumanText("The corpus of this document is gone.")
CHANGED = HumanText("The document changed while it was being indexed.")
OTHER_MODEL = HumanText(
    "The search index was made with another model. Rebuild it before adding to it."
)

Passages: TypeAlias = Mapping[DocumentId, Sequence[Chunk]]
_Work: TypeAlias = Callable[[Corpus, Sequence[DocumentId]], Awaitable[Result[None]]]


@dataclass(frozen=True, slots=True)
class IndexWriter:
    """Writes both indexes from what the database says now, so a late or repeated job does no harm.

    What has changed by the time that it is written is written again: two workers never leave an index with
    what the slower one had read.

    Source:
        COGNI.BUILD spec, package services, "IndexingService".
    """

    documents: DocumentStorePort
    keywords: KeywordSearchPort
    vectors: VectorStorePort
    embedder: EmbedderPort

    async def index(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Embed and write the passages of documents, together; where that fails, each by itself.

        What has no passages any more leaves the indexes.
        """
        together = await self._each_corpus(jobs, self._index)
        if isinstance(together, Ok) or len(jobs) == 1:
            return [together] * len(jobs)
        return [await self._each_corpus([job], self._index) for job in jobs]

    async def index_now(self, corpus: Corpus, documents: Sequence[DocumentId]) -> Result[None]:
        """Write the passages of documents that somebody waits for; their jobs find it done."""
        return await self._index(corpus, documents)

    async def _index(self, corpus: Corpus, documents: Sequence[DocumentId]) -> Result[None]:
        if corpus.embedder_version != self.embedder.version:
            return Err(ConflictError(OTHER_MODEL, detail={"embedder": self.embedder.version}))
        found = await self._passages(corpus.tenant_id, documents)
        if isinstance(found, Err):
            return found
        written = await self._write(corpus.index, [c for d in documents for c in found.value[d]])
        if isinstance(written, Err):
            return written
        removed = await self._remove(corpus, [d for d in documents if not found.value[d]])
        return removed if isinstance(removed, Err) else await self._unchanged(found.value, corpus)

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
        return written.map(lambda _: None)

    async def remove(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Take the passages of deleted documents out of the indexes."""
        return [await self._each_corpus(jobs, self._remove)] * len(jobs)

    async def _remove(self, corpus: Corpus, documents: Sequence[DocumentId]) -> Result[None]:
        for store in (self.vectors, self.keywords) if documents else ():
            removed = await store.delete(corpus.index, documents)
            if isinstance(removed, Err):
                return removed
        return Ok(None)

    async def relabel(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Bring the readers of documents' passages up to date, together and without embedding.

        Where that fails, each by itself.
        """
        together = await self._each_corpus(jobs, self._relabel)
        if isinstance(together, Ok) or len(jobs) == 1:
            return [together] * len(jobs)
        return [await self._each_corpus([job], self._relabel) for job in jobs]

    async def relabel_now(self, corpus: Corpus, documents: Sequence[DocumentId]) -> Result[None]:
        """Bring the readers of documents' passages up to date in the index that `corpus` names; none is embedded."""
        return await self._relabel(corpus, documents)

    async def _relabel(self, corpus: Corpus, documents: Sequence[DocumentId]) -> Result[None]:
        found = await self._passages(corpus.tenant_id, documents)
        if isinstance(found, Err):
            return found
        alike: defaultdict[frozenset[ReaderToken], list[DocumentId]] = defaultdict(list)
        for document, chunks in found.value.items():
            if chunks:
                alike[chunks[0].readers].append(document)
        for readers, group in alike.items():
            for store in (self.vectors, self.keywords):
                changed = await store.relabel_all(corpus.index, group, readers)
                if isinstance(changed, Err):
                    return changed
        removed = await self._remove(corpus, [d for d, chunks in found.value.items() if not chunks])
        return removed if isinstance(removed, Err) else await self._unchanged(found.value, corpus)

    async def _passages(
        self, tenant: TenantId, documents: Sequence[DocumentId]
    ) -> Result[Passages]:
        found = await self.documents.chunks_of(tenant, documents)
        if isinstance(found, Err):
            return found
        passages: dict[DocumentId, list[Chunk]] = {document: [] for document in documents}
        for chunk in found.value:
            passages[chunk.document_id].append(chunk)
        return Ok(passages)

    async def _unchanged(self, written: Passages, corpus: Corpus) -> Result[None]:
        """Tell whether the database still says what was written; what it says by now is written later."""
        found = await self._passages(corpus.tenant_id, list(written))
        if isinstance(found, Err):
            return found
        same = all(_standing(found.value[d]) == _standing(written[d]) for d in written)
        return Ok(None) if same else Err(UpstreamError(CHANGED))

    async def _each_corpus(self, jobs: Sequence[LeasedJob], work: _Work) -> Result[None]:
        """Do the work once for the documents of each corpus; stop where it fails."""
        of_corpus: dict[tuple[TenantId, CorpusId], list[DocumentId]] = {}
        for leased in jobs:
            place = (leased.job.tenant_id, CorpusId(leased.job.payload["corpus_id"]))
            of_corpus.setdefault(place, []).extend(documents_of(leased.job))
        for (tenant, corpus), documents in of_corpus.items():
            known = await self._corpus(tenant, corpus)
            if isinstance(known, Err):
                return known
            done = await work(known.value, list(dict.fromkeys(documents)))
            if isinstance(done, Err):
                return done
        return Ok(None)

    async def _corpus(self, tenant: TenantId, corpus: CorpusId) -> Result[Corpus]:
        every = await self.documents.corpora(tenant)
        if isinstance(every, Err):
            return every
        mine = next((c for c in every.value if c.id == corpus), None)
        return Ok(mine) if mine else Err(NotFoundError(NO_CORPUS))


def _standing(chunks: Sequence[Chunk]) -> Sequence[tuple[ChunkId, frozenset[ReaderToken]]]:
    return [(chunk.id, chunk.readers) for chunk in chunks]
