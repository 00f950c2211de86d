"""One document of a source, taken in: its rule first, its content only where that is mapped."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.jobs import Job
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Corpus, Document
from cogni_domain.knowledge.extracted import Attachment, ExtractedDocument, Reason, Skipped
from cogni_domain.knowledge.source import Gap, SourceDocument
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_engine import Clock
from cogni_kernel import DocumentId, Err, NotFoundError, Ok, Result

INDEX = "index_document"
RELABEL = "relabel_document"
REMOVE = "remove_document"
MAX_DEPTH = 3


class Taken(Enum):
    """What became of a source document."""

    UNCHANGED = "unchanged"
    INDEXED = "indexed"
    RELABELLED = "relabelled"
    SKIPPED = "skipped"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Intake:
    """Commits documents together with the jobs that follow from them.

    Source:
        COGNI.BUILD spec, package services, "IndexingService"; DESIGN D7, D16.
    """

    documents: DocumentStorePort
    extractor: ExtractorPort
    chunking: ChunkPolicy
    clock: Clock
    new_id: Callable[[], str]

    async def take(
        self, corpus: Corpus, connector: ConnectorPort, source: SourceDocument
    ) -> Result[Taken]:
        """Bring the store to what the source says of one document.

        An unmappable rule indexes NOTHING, and removes what was indexed before: the cost is a gap that
        somebody reports, the alternative an answer from something its reader may not see.
        """
        source_id = qualified(connector, source.source_id)
        found = await self.documents.known(corpus.tenant_id, corpus.id, [source_id])
        if isinstance(found, Err):
            return found
        known = found.value[0] if found.value else None
        if isinstance(source.rule, Unmappable):
            gap = self._gap(source_id, source.name, Reason.UNMAPPABLE, source.rule.explanation)
            return await self._leave_out(corpus, known, source_id, [gap])
        if known is not None and known.content_digest == _digest(source.revision):
            return await self._relabel(known, source.rule)
        content = await connector.extract(source)
        if isinstance(content, Err):
            if isinstance(content.error, NotFoundError):
                return await self._leave_out(corpus, known, source_id, [])
            return content
        return await self._store(corpus, source, source_id, known, content.value)

    async def _relabel(self, known: Document, rule: AccessRule) -> Result[Taken]:
        if known.rule.digest == rule.digest:
            return Ok(Taken.UNCHANGED)
        children = await self.documents.attached(known.tenant_id, known.id)
        if isinstance(children, Err):
            return children
        version = f"{rule.digest}@{self.clock.now().isoformat()}"
        jobs = [_job(RELABEL, d, version) for d in (known, *children.value)]
        done = await self.documents.change_rule(known.tenant_id, known.id, rule, jobs)
        return done if isinstance(done, Err) else Ok(Taken.RELABELLED)

    async def _store(
        self,
        corpus: Corpus,
        source: SourceDocument,
        source_id: str,
        known: Document | None,
        content: ExtractedDocument | Skipped,
    ) -> Result[Taken]:
        if isinstance(content, Skipped):
            gap = self._gap(source_id, source.name, content.reason, content.explanation)
            return await self._leave_out(corpus, known, source_id, [gap])
        assert isinstance(source.rule, AccessRule)
        document = Document(
            id=known.id if known else DocumentId(self.new_id()),
            tenant_id=corpus.tenant_id,
            corpus_id=corpus.id,
            source_id=source_id,
            title=content.title or source.name,
            version=known.version + 1 if known else 1,
            content_digest=_digest(source.revision),
            rule=source.rule,
            media_type=content.media_type,
            updated_at=source.updated_at,
            url=source.url,
        )
        gaps = await self._write(document, content, source.name, depth=1)
        if isinstance(gaps, Err):
            return gaps
        noted = await self.documents.put_gaps(corpus.tenant_id, corpus.id, source_id, gaps.value)
        return noted if isinstance(noted, Err) else Ok(Taken.INDEXED)

    async def _write(
        self, document: Document, content: ExtractedDocument, name: str, depth: int
    ) -> Result[Sequence[Gap]]:
        """Write a document and what is attached to it; return what is missing of them."""
        chunks = self.chunking.chunk(document, content)
        job = _job(INDEX, document, str(document.version))
        written = await self.documents.put(document, chunks, [job])
        if isinstance(written, Err):
            return written
        gaps = []
        if content.missing:
            missing = f"Not readable: {', '.join(content.missing)}. The rest is indexed."
            gaps.append(self._gap(document.source_id, name, Reason.PARTIAL, missing))
        for number, attachment in enumerate(content.attachments, start=1):
            more = await self._attach(document, attachment, number, depth)
            if isinstance(more, Err):
                return more
            gaps.extend(more.value)
        stale = await self._detach(document, len(content.attachments))
        return stale if isinstance(stale, Err) else Ok(gaps)

    async def _attach(
        self, parent: Document, attachment: Attachment, number: int, depth: int
    ) -> Result[Sequence[Gap]]:
        """Take in a file inside a file: a document of its own under its parent's rule."""
        source_id = f"{parent.source_id}!{number}"
        if depth >= MAX_DEPTH:
            deep = f"Attached more than {MAX_DEPTH} levels deep. Keep it as a file of its own."
            return Ok([self._gap(source_id, attachment.name, Reason.BOUNDED, deep)])
        content = await self.extractor.extract(attachment.name, attachment.data)
        if isinstance(content, Skipped):
            return Ok([self._gap(source_id, attachment.name, content.reason, content.explanation)])
        known = await self.documents.known(parent.tenant_id, parent.corpus_id, [source_id])
        if isinstance(known, Err):
            return known
        child = replace(
            parent,
            id=known.value[0].id if known.value else DocumentId(self.new_id()),
            source_id=source_id,
            title=content.title or attachment.name,
            version=known.value[0].version + 1 if known.value else 1,
            media_type=content.media_type,
            parent=parent.id,
        )
        return await self._write(child, content, attachment.name, depth + 1)

    async def _detach(self, parent: Document, kept: int) -> Result[None]:
        """Remove attachments that the new version has no more."""
        children = await self.documents.attached(parent.tenant_id, parent.id)
        if isinstance(children, Err):
            return children
        gone = [c for c in children.value if int(c.source_id.rsplit("!", 1)[1]) > kept]
        return await self.remove(gone)

    async def _leave_out(
        self, corpus: Corpus, known: Document | None, source_id: str, gaps: Sequence[Gap]
    ) -> Result[Taken]:
        removed = await self.remove([known] if known else [])
        if isinstance(removed, Err):
            return removed
        noted = await self.documents.put_gaps(corpus.tenant_id, corpus.id, source_id, gaps)
        if isinstance(noted, Err):
            return noted
        return Ok(Taken.SKIPPED if gaps else Taken.GONE)

    async def remove(self, gone: Sequence[Document]) -> Result[None]:
        """Delete documents with what is attached to them; their passages leave the indexes by jobs."""
        for document in gone:
            children = await self.documents.attached(document.tenant_id, document.id)
            if isinstance(children, Err):
                return children
            every = (document, *children.value)
            jobs = [_job(REMOVE, d, str(d.version)) for d in every]
            done = await self.documents.delete(document.tenant_id, [d.id for d in every], jobs)
            if isinstance(done, Err):
                return done
        return Ok(None)

    def _gap(self, source_id: str, name: str, reason: Reason, explanation: str) -> Gap:
        return Gap(source_id, name, reason.value, explanation, self.clock.now())


def qualified(connector: ConnectorPort, source_id: str) -> str:
    """Return the id of a source document within its corpus, where other connectors may feed too."""
    return f"{connector.id}:{source_id}"


def _digest(revision: str) -> str:
    return hashlib.sha256(revision.encode("utf-8", "surrogatepass")).hexdigest()


def _job(kind: str, document: Document, version: str) -> Job:
    payload = {"document_id": str(document.id), "corpus_id": str(document.corpus_id)}
    return Job(kind, document.tenant_id, f"{document.id}@{version}", payload)
