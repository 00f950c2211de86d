"""One document of a source, taken in: its rule first, its content only where that is mapped."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import quote

from cogni_application.indexing.standing import Standing, document_job, is_named_after
from cogni_application.indexing.unpacking import Part, Unpacked, Unpacker
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Corpus, Document
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.knowledge.source import ChangeEvent, Gap, SourceDocument
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_engine import Clock
from cogni_kernel import DocumentId, Err, NotFoundError, Ok, Result

INDEX = "index_document"

_READABLE = " /:@&=+$,;?#[]()'*"

UNFINISHED = ""
"""The digest of a document of which not everything is written yet: no revision has it, so it is read again."""


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

    Whatever it is stopped by, taking the same document in again brings the same end.

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

        Errors:
            UpstreamError: The source or the store did not answer.
        """
        source_id = qualified(connector, source.source_id)
        found = await self.documents.known(corpus.tenant_id, corpus.id, [source_id])
        if isinstance(found, Err):
            return found
        known = found.value[0] if found.value else None
        if isinstance(source.rule, Unmappable):
            unmappable = Skipped(Reason.UNMAPPABLE, source.rule.explanation)
            return await self.leave_out(corpus, source_id, source.name, unmappable)
        if known is not None:
            relabelled = await self._relabel(known, source.rule)
            if isinstance(relabelled, Err) or known.content_digest == digest_of(source.revision):
                return relabelled
        content = await connector.extract(source)
        if isinstance(content, Err):
            gone = isinstance(content.error, NotFoundError)
            return await self.leave_out(corpus, source_id, source.name) if gone else content
        if isinstance(content.value, Skipped):
            return await self.leave_out(corpus, source_id, source.name, content.value)
        family = await self._unpacker.unpack(Part(source_id, source.name, content.value))
        stored = await self._store(corpus, source, family, known)
        return stored if isinstance(stored, Err) else Ok(Taken.INDEXED)

    async def leave_out(
        self, corpus: Corpus, source_id: str, name: str, why: Skipped | None = None
    ) -> Result[Taken]:
        """Remove what is known of a source document, and list why it is not there; for one that is gone, nothing."""
        found = await self.documents.known(corpus.tenant_id, corpus.id, [source_id])
        if isinstance(found, Err):
            return found
        removed = await self.standing.remove(found.value)
        if isinstance(removed, Err):
            return removed
        return await self.note(corpus, source_id, name, why)

    async def note(
        self, corpus: Corpus, source_id: str, name: str, why: Skipped | None
    ) -> Result[Taken]:
        """List why a source document was not taken in, or that there is nothing to list any more."""
        gaps = [] if why is None else [self._unpacker.gap(source_id, name, why)]
        noted = await self.documents.put_gaps(corpus.tenant_id, corpus.id, source_id, gaps)
        if isinstance(noted, Err):
            return noted
        return Ok(Taken.GONE if why is None else Taken.SKIPPED)

    async def leave_all_out(self, corpus: Corpus, source_ids: Sequence[str]) -> Result[None]:
        """Remove what is known of source documents that are gone."""
        return await self.standing.remove_all(corpus, source_ids)

    async def relabel_all(
        self, corpus: Corpus, connector: ConnectorPort, sources: Sequence[SourceDocument]
    ) -> Result[frozenset[str]]:
        """Put documents under their rules of now, many a transaction; return the source ids that are done.

        Left to `take` is what is not known, has other content by now, or a rule that cannot be mapped.
        """
        wanted = {
            qualified(connector, s.source_id): s for s in sources if isinstance(s.rule, AccessRule)
        }
        done = await self.standing.relabel_all(corpus, wanted, is_current)
        return done.map(lambda ids: frozenset(wanted[i].source_id for i in ids))

    async def move(
        self, corpus: Corpus, connector: ConnectorPort, event: ChangeEvent, to: SourceDocument
    ) -> Result[Taken]:
        """Follow a move that gave a document another source id, without reading it where that can be."""
        before = qualified(connector, event.source_id)
        found = await self.documents.known(corpus.tenant_id, corpus.id, [before])
        if isinstance(found, Err):
            return found
        after = qualified(connector, to.source_id)
        for known in found.value:
            renamed = to.name != event.was_named and is_named_after(known.title, event.was_named)
            if isinstance(to.rule, AccessRule) and is_current(known, to) and not renamed:
                cleared = await self.leave_all_out(corpus, [after])
                if isinstance(cleared, Err):
                    return cleared
                moved = await self.standing.move(known, after, to, to.rule)
                if isinstance(moved, Err) or moved.value:
                    return moved.map(lambda _: Taken.RELABELLED)
        removed = await self.leave_all_out(corpus, [before, after])
        return removed if isinstance(removed, Err) else await self.take(corpus, connector, to)

    @property
    def standing(self) -> Standing:
        """What changes about documents without reading them."""
        return Standing(self.documents, self.clock)

    @property
    def _unpacker(self) -> Unpacker:
        return Unpacker(self.extractor, self.clock)

    async def _relabel(self, known: Document, rule: AccessRule) -> Result[Taken]:
        changed = await self.standing.relabel(known, rule)
        return changed.map(lambda other: Taken.RELABELLED if other else Taken.UNCHANGED)

    async def _store(
        self, corpus: Corpus, source: SourceDocument, family: Unpacked, root: Document | None
    ) -> Result[None]:
        known: Mapping[str, Document] = {}
        if root is not None:
            found = await self.documents.known(corpus.tenant_id, corpus.id, family.source_ids())
            if isinstance(found, Err):
                return found
            known = {document.source_id: document for document in found.value}
        return await self._write(
            self._document(corpus, source, family.parts[0], known), family, known
        )

    def _document(
        self, corpus: Corpus, source: SourceDocument, part: Part, known: Mapping[str, Document]
    ) -> Document:
        assert isinstance(source.rule, AccessRule)
        before = known.get(part.source_id)
        return Document(
            id=before.id if before else DocumentId(self.new_id()),
            tenant_id=corpus.tenant_id,
            corpus_id=corpus.id,
            source_id=part.source_id,
            title=part.title,
            version=before.version + 1 if before else 1,
            content_digest=digest_of(source.revision),
            rule=source.rule,
            media_type=part.content.media_type,
            updated_at=source.updated_at,
            url=source.url,
        )

    async def _write(
        self, root: Document, family: Unpacked, known: Mapping[str, Document]
    ) -> Result[None]:
        """Write what is attached, and the root last: its digest says that all of it is there."""
        if len(family.parts) > 1 and root.source_id not in known:
            unfinished = replace(root, content_digest=UNFINISHED)
            begun = await self.documents.put(unfinished, (), ())
            if isinstance(begun, Err):
                return begun
            root = replace(root, version=root.version + 1)
        attached = await self._write_attached(root, family, known)
        if isinstance(attached, Err):
            return attached
        if known:
            detached = await self._detach(root, frozenset(family.source_ids()))
            if isinstance(detached, Err):
                return detached
        return await self._put(root, family.parts[0], family.gaps)

    async def _write_attached(
        self, root: Document, family: Unpacked, known: Mapping[str, Document]
    ) -> Result[None]:
        written = {root.source_id: root}
        for part in family.parts[1:]:
            before, parent = known.get(part.source_id), written[part.parent or root.source_id]
            child = replace(
                root,
                id=before.id if before else DocumentId(self.new_id()),
                source_id=part.source_id,
                title=part.title,
                version=before.version + 1 if before else 1,
                media_type=part.content.media_type,
                parent=parent.id,
            )
            put = await self._put(child, part)
            if isinstance(put, Err):
                return put
            written[part.source_id] = child
        return Ok(None)

    async def _put(
        self, document: Document, part: Part, gaps: Sequence[Gap] | None = None
    ) -> Result[None]:
        chunks = self.chunking.chunk(document, part.content)
        job = document_job(INDEX, document, str(document.version))
        return await self.documents.put(document, chunks, [job], gaps)

    async def _detach(self, root: Document, kept: frozenset[str]) -> Result[None]:
        """Remove attachments that the new version has no more."""
        children = await self.standing.descendants(root)
        if isinstance(children, Err):
            return children
        return await self.standing.remove([c for c in children.value if c.source_id not in kept])


def qualified(connector: ConnectorPort, source_id: str) -> str:
    """Return the id of a source document within its corpus, where other connectors may feed too.

    Neither a connector's name nor a source's id can pass for another's, or for an attachment, by what is in it.
    """
    return qualified_id(connector.id, source_id)


def qualified_id(connector_id: str, source_id: str) -> str:
    """Return what `qualified` does, for who knows the connector's id alone."""
    name, place = quote(connector_id, safe=""), quote(source_id, _READABLE, errors="surrogatepass")
    return f"{name}:{place}"


def is_current(known: Document, source: SourceDocument) -> bool:
    """Tell whether a known document has the content that its source lists now."""
    return known.content_digest == digest_of(source.revision)


def digest_of(revision: str) -> str:
    """Return what a document keeps of the revision that was read."""
    return hashlib.sha256(revision.encode("utf-8", "surrogatepass")).hexdigest()
