"""What a file that a person adds becomes: documents under its conversation's rule, or a reason why not."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import unquote

from cogni_application.indexing.intake import INDEX, qualified_id
from cogni_application.indexing.standing import REMOVE
from cogni_application.indexing.unpacking import Part, Unpacked
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import conversation_token
from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Corpus, Document
from cogni_domain.knowledge.extracted import ExtractedDocument, Reason, Skipped
from cogni_kernel import (
    ConversationId,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    InvalidArgumentError,
    TenantId,
    encodable,
)

ATTACHMENTS = CorpusId("attachments")
CONNECTOR = "conversation"
MAX_NAME = 200

EMPTY = HumanText(
    "There is no text in this file that could be read. If it is a scan, have its letters recognised first."
)
_OTHERWISE = HumanText("This file cannot be read. Save it in another format, then add it again.")
UNREADABLE: Mapping[Reason, HumanText] = {
    **dict.fromkeys(Reason, _OTHERWISE),
    Reason.EMPTY: EMPTY,
    Reason.ENCRYPTED: HumanText(
        "This file is protected by a password. Take the protection off, then add it again."
    ),
    Reason.CORRUPT: HumanText("This file is damaged. Save it anew, then add it again."),
    Reason.TOO_LARGE: HumanText("This file is too large to be read. Add a part of it."),
    Reason.BOUNDED: HumanText("This file holds more than can be read here. Add a part of it."),
    Reason.UNSUPPORTED: HumanText(
        "This kind of file cannot be read. Save it as a PDF, or as an office, text or web file, and add that."
    ),
}
"""What a person is told who adds a file that gives no text."""


@dataclass(frozen=True, slots=True)
class Adding:
    """A file on its way in; the same key in the same conversation is the same file, again."""

    name: str
    data: bytes
    idempotency_key: str | None = None


def root_document(
    conversation: ConversationId, name: str, file: Adding, corpus: Corpus, now: datetime
) -> Document:
    """Return the document of a file as it comes in, before it is read.

    Args:
        name: Tells the file from others of its conversation.
    """
    return Document(
        id=DocumentId(digest(str(corpus.tenant_id), str(conversation), name)),
        tenant_id=corpus.tenant_id,
        corpus_id=corpus.id,
        source_id=source_id(conversation, name),
        title=encodable(file.name)[:MAX_NAME],
        version=1,
        content_digest=hashlib.sha256(file.data).hexdigest(),
        rule=AccessRule.any_of(conversation_token(conversation)),
        media_type="application/octet-stream",
        updated_at=now,
    )


def documents_of(root: Document, family: Unpacked) -> list[tuple[Document, ExtractedDocument]]:
    """Return what was read as documents: the file first, then the files in it, each attached to it."""
    whole, *inside = family.parts
    return [
        (replace(root, media_type=whole.content.media_type), whole.content),
        *((_inside(root, part), part.content) for part in inside),
    ]


def _inside(root: Document, part: Part) -> Document:
    return replace(
        root,
        id=DocumentId(digest(str(root.id), part.source_id)),
        source_id=part.source_id,
        title=part.title[:MAX_NAME],
        media_type=part.content.media_type,
        parent=root.id,
    )


def unread(family: Unpacked) -> tuple[str, ...]:
    """Return the names of what could not be read, wholly or in part."""
    return tuple(dict.fromkeys(gap.name for gap in family.gaps))


def refusal(skipped: Skipped) -> Err:
    """Return why a file was not taken in, for the person who added it."""
    return Err(InvalidArgumentError(UNREADABLE[skipped.reason], detail={"field": "body"}))


def source_id(conversation: ConversationId, name: str) -> str:
    """Return the id of a file within the corpus; with no name, what those of its conversation begin with."""
    return qualified_id(CONNECTOR, f"{conversation}/{name}")


def conversation_of(source: str) -> ConversationId:
    """Return the conversation of a file."""
    return ConversationId(unquote(source.partition(":")[2]).rpartition("/")[0])


def digest(*parts: str) -> str:
    """Return one name for several parts, whatever is in them."""
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def indexing(document: Document) -> Job:
    """Return the job that indexes a document."""
    payload = {"document_id": str(document.id), "corpus_id": str(document.corpus_id)}
    return Job(INDEX, document.tenant_id, f"{document.id}@{document.version}", payload)


def removal(tenant: TenantId, document: DocumentId) -> Job:
    """Return the job that takes a document out of its index."""
    payload = {"document_id": str(document), "corpus_id": str(ATTACHMENTS)}
    return Job(REMOVE, tenant, f"{document}@gone", payload)
