"""Files that a person adds to a conversation: readable by that person alone, gone with the conversation."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.intake import INDEX, REMOVE, qualified_id
from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import user_token
from cogni_domain.jobs import Job
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document, IndexId
from cogni_domain.knowledge.extracted import Skipped
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
    InvalidArgumentError,
    NotFoundError,
    Ok,
    Result,
    TenantId,
    encodable,
)

ATTACHMENTS = CorpusId("attachments")
CONNECTOR = "conversation"
MOST = 10
MAX_NAME = 200
PAGE = 200

NO_SUCH = HumanText("There is nothing here under that name that you can open.")
TOO_MANY = HumanText(f"A conversation holds at most {MOST} files. Remove one, or begin another.")
EMPTY = HumanText("There is no text in this file that could be read.")


@dataclass(frozen=True, slots=True)
class Adding:
    """A file on its way in; the same key in the same conversation is the same file, again."""

    name: str
    data: bytes
    idempotency_key: str | None = None


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
    ) -> Result[Document]:
        """Read a file elsewhere, keep it and index it: the next question finds it.

        Errors:
            NotFoundError: The conversation is not this person's.
            InvalidArgumentError: The file cannot be read; says why.
            ConflictError: The conversation holds as many as it may.
        """
        held = await self._held(conversation, principal)
        if isinstance(held, Err):
            return held
        corpus = await self._corpus(principal)
        if isinstance(corpus, Err):
            return corpus
        document = self._document(conversation, file, corpus.value, principal)
        if any(source == document.source_id for source, _ in held.value):
            return Ok(document)
        if len(held.value) >= MOST:
            return Err(ConflictError(TOO_MANY))
        content = await self.extractor.extract(file.name, file.data)
        if isinstance(content, Skipped):
            return _unreadable(HumanText(content.explanation))
        read = replace(document, media_type=content.media_type)
        chunks = self.chunking.chunk(read, content)
        return await self._kept(corpus.value, read, chunks) if chunks else _unreadable(EMPTY)

    async def _kept(
        self, corpus: Corpus, document: Document, chunks: Sequence[Chunk]
    ) -> Result[Document]:
        """Keep a file and index it now; the job does so again should this process end in between."""
        put = await self.documents.put(document, chunks, [_job(INDEX, document)])
        if isinstance(put, Err):
            return put
        indexed = await self.index.index_now(corpus, [document.id])
        return indexed if isinstance(indexed, Err) else Ok(document)

    async def remove(
        self, conversation: ConversationId, document: DocumentId, principal: Principal
    ) -> Result[None]:
        """Let a file go.

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
            held = {document: _conversation(source) for source, document in page.value}
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
        prefix = _source_id(conversation, "")
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

    def _document(
        self, conversation: ConversationId, file: Adding, corpus: Corpus, principal: Principal
    ) -> Document:
        key = file.idempotency_key
        name = self.new_id() if key is None else _digest(str(conversation), key)
        now = self.clock.now()
        return Document(
            id=DocumentId(_digest(str(corpus.tenant_id), str(conversation), name)),
            tenant_id=corpus.tenant_id,
            corpus_id=corpus.id,
            source_id=_source_id(conversation, name),
            title=encodable(file.name)[:MAX_NAME],
            version=1,
            content_digest=hashlib.sha256(file.data).hexdigest(),
            rule=AccessRule.any_of(user_token(principal.id)),
            media_type="application/octet-stream",
            updated_at=now,
        )

    async def _delete(self, tenant: TenantId, gone: Sequence[DocumentId]) -> Result[None]:
        if not gone:
            return Ok(None)
        jobs = [_removal(tenant, document) for document in gone]
        done = await self.documents.delete(tenant, gone, jobs)
        return done if isinstance(done, Err) else Ok(None)


def _source_id(conversation: ConversationId, name: str) -> str:
    return qualified_id(CONNECTOR, f"{conversation}/{name}")


def _conversation(source_id: str) -> ConversationId:
    return ConversationId(unquote(source_id.partition(":")[2]).rpartition("/")[0])


def _digest(*parts: str) -> str:
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _job(kind: str, document: Document) -> Job:
    payload = {"document_id": str(document.id), "corpus_id": str(document.corpus_id)}
    return Job(kind, document.tenant_id, f"{document.id}@{document.version}", payload)


def _removal(tenant: TenantId, document: DocumentId) -> Job:
    payload = {"document_id": str(document), "corpus_id": str(ATTACHMENTS)}
    return Job(REMOVE, tenant, f"{document}@gone", payload)


def _unreadable(why: HumanText) -> Err:
    return Err(InvalidArgumentError(why, detail={"field": "body"}))
