"""Documents as they stand now, in memory."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from cogni_adapters.memory.state import MemoryState
from cogni_domain.access.predicate import admits
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort, JobsOf
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
)

TAKEN = HumanText("Another document of this source was written at the same time.")
NO_SUCH = HumanText("There is no such document that you can open.")


class MemoryDocumentStoreAdapter(DocumentStorePort):
    """Looks through all documents; right before fast."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def put_corpus(self, corpus: Corpus) -> Result[Corpus]:
        return Ok(self._state.corpora.setdefault((corpus.tenant_id, corpus.id), corpus))

    async def corpora(self, tenant: TenantId) -> Result[Sequence[Corpus]]:
        own = [c for c in self._state.corpora.values() if c.tenant_id == tenant]
        return Ok(sorted(own, key=lambda corpus: corpus.id))

    async def note_indexed_through(self, corpus: Corpus, moment: datetime) -> Result[None]:
        key = (corpus.tenant_id, corpus.id)
        self._state.corpora[key] = replace(
            self._state.corpora[key], indexed_through=moment.astimezone(UTC)
        )
        return Ok(None)

    async def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        jobs: Sequence[Job],
        gaps: Sequence[Gap] | None = None,
    ) -> Result[None]:
        key = (document.tenant_id, document.id)
        stored = self._state.documents.get(key)
        if stored is not None and document.version <= stored.version:
            return Ok(None)
        if document.parent is not None:
            parent = self._state.documents.get((document.tenant_id, document.parent))
            if parent is None:
                return Err(NotFoundError(NO_SUCH))
            document = replace(document, rule=parent.rule)
        same = [
            d.id
            for d in self._of(document.tenant_id, document.corpus_id)
            if d.source_id == document.source_id
        ]
        if same not in ([], [document.id]):
            return Err(ConflictError(TAKEN, retryable=True))
        self._state.documents[key] = document
        self._put_rule(document.tenant_id, document.id, document.rule)
        self._state.chunks[key] = tuple(sorted(chunks, key=lambda chunk: chunk.ordinal))
        if gaps is not None:
            place = (document.tenant_id, document.corpus_id, document.source_id)
            self._state.gaps[place] = tuple(gaps)
        self._state.enqueue_all(jobs, Lane.INDEXING)
        return Ok(None)

    async def change_rule(
        self, tenant: TenantId, document: DocumentId, rule: AccessRule, jobs: Sequence[Job]
    ) -> Result[None]:
        self._put_rule(tenant, document, rule)
        self._state.enqueue_all(jobs, Lane.INDEXING)
        return Ok(None)

    async def change_rules(
        self, tenant: TenantId, rules: Mapping[DocumentId, AccessRule], jobs_of: JobsOf
    ) -> Result[int]:
        alike: defaultdict[str, list[DocumentId]] = defaultdict(list)
        for document, rule in rules.items():
            await self.change_rule(tenant, document, rule, ())
            alike[rule.digest] += [d.id for d in self._family(tenant, [document])]
        for rule in rules.values():
            if changed := alike.pop(rule.digest, []):
                self._state.enqueue_all(jobs_of(changed, rule), Lane.INDEXING)
        return Ok(sum(len(self._family(tenant, [document])) for document in rules))

    async def move(self, moved: Document, jobs_of: JobsOf) -> Result[bool]:
        tenant, corpus = moved.tenant_id, moved.corpus_id
        before = self._state.documents.get((tenant, moved.id))
        if before is None or any(
            d.source_id == moved.source_id and d.id != moved.id for d in self._of(tenant, corpus)
        ):
            return Ok(False)
        family = self._family(tenant, [moved.id])
        for found in family:
            place = moved.source_id + found.source_id.removeprefix(before.source_id)
            self._state.documents[tenant, found.id] = replace(found, source_id=place)
        kept = self._state.documents[tenant, moved.id]
        self._state.documents[tenant, moved.id] = replace(
            kept, updated_at=moved.updated_at, url=moved.url
        )
        self._move_gaps(moved, before.source_id)
        jobs = jobs_of([d.id for d in family], moved.rule)
        await self.change_rule(tenant, moved.id, moved.rule, jobs)
        return Ok(True)

    def _move_gaps(self, moved: Document, before: str) -> None:
        gaps = self._state.gaps.pop((moved.tenant_id, moved.corpus_id, before), ())
        if gaps:
            self._state.gaps[moved.tenant_id, moved.corpus_id, moved.source_id] = tuple(
                replace(gap, source_id=moved.source_id + gap.source_id.removeprefix(before))
                for gap in gaps
            )

    async def delete(
        self, tenant: TenantId, documents: Sequence[DocumentId], jobs: Sequence[Job]
    ) -> Result[int]:
        family = self._family(tenant, documents)
        for found in family:
            del self._state.documents[tenant, found.id]
            del self._state.chunks[tenant, found.id]
        self._state.enqueue_all(jobs, Lane.INDEXING)
        return Ok(len(family))

    async def known(
        self, tenant: TenantId, corpus: CorpusId, source_ids: Sequence[str]
    ) -> Result[Sequence[Document]]:
        wanted = set(source_ids)
        return Ok([d for d in self._of(tenant, corpus) if d.source_id in wanted])

    async def source_ids(
        self, tenant: TenantId, corpus: CorpusId, after: str, limit: int
    ) -> Result[Sequence[tuple[str, DocumentId]]]:
        found = sorted(
            (d.source_id, d.id)
            for d in self._of(tenant, corpus)
            if d.parent is None and d.source_id > after
        )
        return Ok(found[:limit])

    async def attached(self, tenant: TenantId, document: DocumentId) -> Result[Sequence[Document]]:
        return Ok(self._children(tenant, document))

    async def chunks_of(
        self, tenant: TenantId, documents: Sequence[DocumentId]
    ) -> Result[Sequence[Chunk]]:
        places = ((tenant, document) for document in dict.fromkeys(documents))
        found = [self._state.documents[place] for place in places if place in self._state.documents]
        return Ok([chunk for document in found for chunk in self._passages(document)])

    async def get(self, document: DocumentId, scope: Scope) -> Result[Document]:
        found = self._state.documents.get((scope.tenant_id, document))
        if found is None or not admits(scope.predicate, found.labels()):
            return Err(NotFoundError(NO_SUCH))
        return Ok(found)

    async def current(self, chunks: Sequence[ChunkId], scope: Scope) -> Result[Sequence[Chunk]]:
        visible = {
            chunk.id: chunk
            for document in self._state.documents.values()
            if admits(scope.predicate, document.labels())
            for chunk in self._passages(document)
        }
        return Ok([visible[wanted] for wanted in dict.fromkeys(chunks) if wanted in visible])

    async def readable(
        self, documents: Iterable[DocumentId], scope: Scope
    ) -> Result[frozenset[DocumentId]]:
        wanted = frozenset(documents)
        return Ok(
            frozenset(
                d.id
                for d in self._state.documents.values()
                if d.id in wanted and admits(scope.predicate, d.labels())
            )
        )

    async def put_gaps(
        self, tenant: TenantId, corpus: CorpusId, source_id: str, gaps: Sequence[Gap]
    ) -> Result[None]:
        self._state.gaps[tenant, corpus, source_id] = tuple(gaps)
        return Ok(None)

    async def gaps(self, tenant: TenantId, corpus: CorpusId) -> Result[Sequence[Gap]]:
        of_corpus = {key: g for key, g in self._state.gaps.items() if key[:2] == (tenant, corpus)}
        return Ok([gap for key in sorted(of_corpus) for gap in of_corpus[key]])

    def _of(self, tenant: TenantId, corpus: CorpusId) -> list[Document]:
        own = [d for (of, _), d in self._state.documents.items() if of == tenant]
        return [d for d in own if d.corpus_id == corpus]

    def _put_rule(self, tenant: TenantId, document: DocumentId, rule: AccessRule) -> None:
        for found in self._family(tenant, [document]):
            self._state.documents[tenant, found.id] = replace(found, rule=rule)

    def _family(self, tenant: TenantId, roots: Sequence[DocumentId]) -> list[Document]:
        """Return the documents that are there of `roots`, and all that is attached below them."""
        found: dict[DocumentId, Document] = {}
        waiting = list(roots)
        while waiting:
            document = self._state.documents.get((tenant, waiting.pop()))
            if document is None or document.id in found:
                continue
            found[document.id] = document
            waiting += [child.id for child in self._children(tenant, document.id)]
        return list(found.values())

    def _children(self, tenant: TenantId, parent: DocumentId) -> list[Document]:
        own = [d for (of, _), d in self._state.documents.items() if of == tenant]
        return [d for d in own if d.parent == parent]

    def _passages(self, document: Document) -> list[Chunk]:
        readers = document.rule.readers
        stored = self._state.chunks[document.tenant_id, document.id]
        return [replace(chunk, readers=readers) for chunk in stored]
