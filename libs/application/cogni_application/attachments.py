"""Files that a person adds to a conversation: readable there by that person alone, gone with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cogni_application.attached_files import (
    ATTACHMENTS,
    Adding,
    conversation_of,
    digest,
    documents_of,
    indexing,
    refusal,
    removal,
    root_document,
    source_id,
    unread,
)
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.unpacking import Part, Unpacker
from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.conversations import Conversation
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document, IndexId
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_engine import Clock
from cogni_kernel import (
    ConflictError,
    ConversationId,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    Result,
    TenantId,
)

MOST = 10
PAGE = 200

NO_SUCH = HumanText("There is nothing here under that name that you can open.")
TOO_MANY = HumanText(f"A conversation holds at most {MOST} files. Remove one, or begin another.")

_Read: TypeAlias = Sequence[tuple[Document, Sequence[Chunk]]]


@dataclass(frozen=True, slots=True)
class Held:
    """A file that a conversation holds."""

    document_id: DocumentId
    name: str


@dataclass(frozen=True, slots=True)
class Added:
    """A file that was taken in, and the names of what in it could not be read."""

    conversation: ConversationId
    file: Held
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttachmentService:
    """Takes files in and lets them go. What is in one is content, as any passage is.

    Source:
        DESIGN D19, D23.
    """

    documents: DocumentStorePort
    extractor: ExtractorPort
    transcripts: TranscriptStorePort
    index: IndexWriter
    chunking: ChunkPolicy
    clock: Clock
    new_id: Callable[[], str]

    async def add(
        self, conversation: ConversationId, file: Adding, principal: Principal
    ) -> Result[Added]:
        """Read a file elsewhere, with the files in it, keep it and index it: the next question finds it.

        Errors:
            NotFoundError: The conversation is not this person's.
            InvalidArgumentError: The file cannot be read; says why.
            ConflictError: The conversation holds as many as it may.
        """
        held = await self._held(conversation, principal)
        if isinstance(held, Err):
            return held
        return await self._add(conversation, file, principal, held.value)

    async def begin(self, surface_id: str, file: Adding, principal: Principal) -> Result[Added]:
        """Begin a conversation with a file, before its first question; one that cannot be read begins none.

        Errors:
            NotFoundError: A machine holds no files.
            InvalidArgumentError: The file cannot be read; says why.
        """
        tenant, key = principal.tenant_id, file.idempotency_key
        if tenant is None:
            return Err(NotFoundError(NO_SUCH))
        name = self.new_id() if key is None else digest(str(tenant), str(principal.owner), key)
        conversation, now = ConversationId(name), self.clock.now()
        known = await self._held(conversation, principal)
        if isinstance(known, Err) and not isinstance(known.error, NotFoundError):
            return known
        held = () if isinstance(known, Err) else known.value
        begun = Conversation(conversation, tenant, principal.owner, surface_id, "", now, now, 0)
        return await self._add(conversation, file, principal, held, begun)

    async def _add(
        self,
        conversation: ConversationId,
        file: Adding,
        principal: Principal,
        held: Sequence[tuple[str, DocumentId]],
        begun: Conversation | None = None,
    ) -> Result[Added]:
        corpus = await self._corpus(principal)
        if isinstance(corpus, Err):
            return corpus
        key = file.idempotency_key
        name = self.new_id() if key is None else digest(str(conversation), key)
        root = root_document(conversation, name, file, corpus.value, self.clock.now())
        added = Added(conversation, Held(root.id, root.title))
        if any(source == root.source_id for source, _ in held):
            return Ok(added)
        if len(held) >= MOST:
            return Err(ConflictError(TOO_MANY))
        read = await self._read(root, file)
        if isinstance(read, Err):
            return read
        documents, unread_parts = read.value
        if begun is not None and isinstance(opened := await self.transcripts.begin(begun), Err):
            return opened
        kept = await self._kept(corpus.value, documents)
        return kept.map(lambda _: replace(added, unread=unread_parts))

    async def _read(self, root: Document, file: Adding) -> Result[tuple[_Read, tuple[str, ...]]]:
        """Return a file and those in it, each with its passages, and the names of what could not be read."""
        content = await self.extractor.extract(file.name, file.data)
        if isinstance(content, Skipped):
            return refusal(content)
        part = Part(root.source_id, file.name, content)
        family = await Unpacker(self.extractor, self.clock).unpack(part)
        read = [(d, self.chunking.chunk(d, found)) for d, found in documents_of(root, family)]
        if not any(chunks for _, chunks in read):
            return refusal(Skipped(Reason.EMPTY, ""))
        return Ok((read, unread(family)))

    async def _kept(self, corpus: Corpus, read: _Read) -> Result[None]:
        """Keep a file and index it now; the jobs do so again should this process end in between."""
        for document, chunks in read:
            put = await self.documents.put(document, chunks, [indexing(document)])
            if isinstance(put, Err):
                return put
        return await self.index.index_now(corpus, [document.id for document, _ in read])

    async def held(
        self, conversation: ConversationId, principal: Principal
    ) -> Result[Sequence[Held]]:
        """Return the files of an own conversation.

        Errors:
            NotFoundError: The conversation is not this person's.
        """
        found = await self._held(conversation, principal)
        if principal.tenant_id is None or isinstance(found, Err):
            return found if isinstance(found, Err) else Ok(())
        names = [source for source, _ in found.value]
        known = await self.documents.known(principal.tenant_id, ATTACHMENTS, names)
        return known.map(lambda files: [Held(file.id, file.title) for file in files])

    async def remove(
        self, conversation: ConversationId, document: DocumentId, principal: Principal
    ) -> Result[None]:
        """Let a file go, with the files in it.

        Errors:
            NotFoundError: It is not one of this conversation, or that is not this person's.
        """
        held = await self._held(conversation, principal)
        if isinstance(held, Err):
            return held
        gone = [found for _, found in held.value if found == document]
        if principal.tenant_id is None or not gone:
            return Err(NotFoundError(NO_SUCH))
        return await self._delete(principal.tenant_id, gone)

    async def remove_all(self, conversation: ConversationId, principal: Principal) -> Result[None]:
        """Let every file of a conversation go.

        Errors:
            NotFoundError: The conversation is not this person's.
        """
        held = await self._held(conversation, principal)
        if isinstance(held, Err):
            return held
        if principal.tenant_id is None:
            return Err(NotFoundError(NO_SUCH))
        return await self._delete(principal.tenant_id, [document for _, document in held.value])

    async def sweep(self, tenant: TenantId) -> Result[int]:
        """Let go of the files of conversations that have ended; return how many that were."""
        after, swept = "", 0
        while True:
            page = await self.documents.source_ids(tenant, ATTACHMENTS, after, PAGE)
            if isinstance(page, Err) or not page.value:
                return page if isinstance(page, Err) else Ok(swept)
            held = {document: conversation_of(source) for source, document in page.value}
            going_on = await self.transcripts.open_ones(tenant, frozenset(held.values()))
            if isinstance(going_on, Err):
                return going_on
            gone = [d for d, conversation in held.items() if conversation not in going_on.value]
            done = await self._delete(tenant, gone)
            if isinstance(done, Err):
                return done
            after, swept = page.value[-1][0], swept + len(gone)

    async def corpora(
        self, conversation: ConversationId | None, principal: Principal
    ) -> Result[tuple[CorpusId, ...]]:
        """Return where else a question of this conversation is looked for: nowhere, or in its files."""
        if conversation is None:
            return Ok(())
        held = await self._held(conversation, principal)
        if isinstance(held, Err) or not held.value:
            return held if isinstance(held, Err) else Ok(())
        corpus = await self._corpus(principal)
        if isinstance(corpus, Err):
            return corpus
        noted = await self.documents.note_indexed_through(corpus.value, self.clock.now())
        return noted if isinstance(noted, Err) else Ok((ATTACHMENTS,))

    async def _held(
        self, conversation: ConversationId, principal: Principal
    ) -> Result[Sequence[tuple[str, DocumentId]]]:
        """Return what an own conversation holds; a machine has none."""
        tenant = principal.tenant_id
        if tenant is None or principal.kind is not PrincipalKind.HUMAN:
            return Ok(()) if tenant is not None else Err(NotFoundError(NO_SUCH))
        own = await self.transcripts.conversation(tenant, principal.owner, conversation)
        if isinstance(own, Err):
            return own
        prefix = source_id(conversation, "")
        found = await self.documents.source_ids(tenant, ATTACHMENTS, prefix, MOST + 1)
        if isinstance(found, Err):
            return found
        return Ok([row for row in found.value if row[0].startswith(prefix)])

    async def _corpus(self, principal: Principal) -> Result[Corpus]:
        if principal.tenant_id is None or principal.kind is not PrincipalKind.HUMAN:
            return Err(NotFoundError(NO_SUCH))
        index = IndexId(principal.tenant_id, ATTACHMENTS)
        version = self.index.embedder.version
        wanted = Corpus(ATTACHMENTS, principal.tenant_id, "Attachments", index, version)
        return await self.documents.put_corpus(wanted)

    async def _delete(self, tenant: TenantId, files: Sequence[DocumentId]) -> Result[None]:
        if not files:
            return Ok(None)
        gone = list(files)
        for file in files:
            inside = await self.documents.attached(tenant, file)
            if isinstance(inside, Err):
                return inside
            gone.extend(document.id for document in inside.value)
        jobs = [removal(tenant, document) for document in gone]
        done = await self.documents.delete(tenant, gone, jobs)
        return done if isinstance(done, Err) else Ok(None)
