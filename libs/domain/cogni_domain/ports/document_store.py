"""Documents as they stand now: the database that disposes of what an index proposes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document
from cogni_domain.knowledge.source import Gap
from cogni_kernel import ChunkId, CorpusId, DocumentId, Result, TenantId

JobsOf: TypeAlias = Callable[[Sequence[DocumentId], AccessRule], Sequence[Job]]
"""Makes the jobs that follow from the new rule of documents."""


class DocumentStorePort(Protocol):
    """Implementations must pass `contracts.document_store.DocumentStoreContract`.

    Every write commits the rows and the jobs that follow from them in one transaction. Every read by a scope
    is one query with its predicate inside: absent and forbidden look and take the same.
    """

    async def put_corpus(self, corpus: Corpus) -> Result[Corpus]:
        """Create a corpus, or return the one that already has this tenant and id."""
        ...

    async def corpora(self, tenant: TenantId) -> Result[Sequence[Corpus]]:
        """Return the corpora of a tenant, by id."""
        ...

    async def note_indexed_through(self, corpus: Corpus, moment: datetime) -> Result[None]:
        """Remember up to when the source was read."""
        ...

    async def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        jobs: Sequence[Job],
        gaps: Sequence[Gap] | None = None,
    ) -> Result[None]:
        """Write a document's new version and its passages; the rule is kept, compound ones for the scope.

        Older passages go. A version that is not newer than the stored one changes nothing. `gaps` replace the
        gap list of its source document; None leaves that.

        Errors:
            ConflictError: Another document of the corpus has this source id, retryable: it is known by then.
        """
        ...

    async def change_rule(
        self, tenant: TenantId, document: DocumentId, rule: AccessRule, jobs: Sequence[Job]
    ) -> Result[None]:
        """Change who may read a document and what is attached to it, from the next request on."""
        ...

    async def change_rules(
        self, tenant: TenantId, rules: Mapping[DocumentId, AccessRule], jobs_of: JobsOf
    ) -> Result[int]:
        """Change who may read many documents and what is attached to them, in one transaction.

        Returns how many documents are under another rule now, attached ones included.
        """
        ...

    async def move(self, moved: Document, jobs_of: JobsOf) -> Result[bool]:
        """Write a known document's source id, rule, time and address; its passages and its version stay.

        What is attached to it goes with it, and so does its gap list. False, and nothing is written, where the document is gone or another one has that source id.
        """
        ...

    async def delete(
        self, tenant: TenantId, documents: Sequence[DocumentId], jobs: Sequence[Job]
    ) -> Result[int]:
        """Remove documents, their passages and what is attached to them; return how many documents went."""
        ...

    async def known(
        self, tenant: TenantId, corpus: CorpusId, source_ids: Sequence[str]
    ) -> Result[Sequence[Document]]:
        """Return, for indexing, the documents that are known under these source ids."""
        ...

    async def source_ids(
        self, tenant: TenantId, corpus: CorpusId, after: str, limit: int
    ) -> Result[Sequence[tuple[str, DocumentId]]]:
        """Return, for indexing, known top-level documents in the order of source id, after `after`."""
        ...

    async def attached(self, tenant: TenantId, document: DocumentId) -> Result[Sequence[Document]]:
        """Return, for indexing, the documents that are attached to one."""
        ...

    async def chunks_of(
        self, tenant: TenantId, documents: Sequence[DocumentId]
    ) -> Result[Sequence[Chunk]]:
        """Return, for indexing, the passages of documents' current versions; those of one are in order."""
        ...

    async def get(self, document: DocumentId, scope: Scope) -> Result[Document]:
        """Return one document.

        Errors:
            NotFoundError: It is absent, or not for this scope: indistinguishable.
        """
        ...

    async def current(self, chunks: Sequence[ChunkId], scope: Scope) -> Result[Sequence[Chunk]]:
        """Return those passages that are of their document's current version and for this scope.

        The final check before a passage leaves retrieval, in one query; in the order asked.
        """
        ...

    async def readable(
        self, documents: Iterable[DocumentId], scope: Scope
    ) -> Result[frozenset[DocumentId]]:
        """Return those of `documents` that exist and are for this scope."""
        ...

    async def put_gaps(
        self, tenant: TenantId, corpus: CorpusId, source_id: str, gaps: Sequence[Gap]
    ) -> Result[None]:
        """Replace the gap list of one source document; none clears it."""
        ...

    async def gaps(self, tenant: TenantId, corpus: CorpusId) -> Result[Sequence[Gap]]:
        """Return what was not indexed, by source id."""
        ...
