"""Documents, passages and readers, as several contracts use them."""

from collections.abc import Sequence

from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import CompoundRules, Scope, ScopePolicy
from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document, IndexId, chunk_id
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_kernel import CorpusId, DocumentId, TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import START
from cogni_testing.fixtures import fake_principal

ACME = TenantId("acme")
GLOBEX = TenantId("globex")
HANDBOOK = CorpusId("handbook")
TICKETS = CorpusId("tickets")

EVERYONE = AccessRule.everyone()
NOBODY = AccessRule.any_of()
HR = AccessRule.any_of("g:wiki/hr")
LEGAL = AccessRule.any_of("g:wiki/legal")
HR_LEADS = HR.restricted_to("g:wiki/leads")
ALL_BUT_BOB = EVERYONE.except_for("u:bob")

ALICE = fake_principal(id="alice")
BOB = fake_principal(id="bob")
IN_HR = fake_principal(id="helen", groups=["wiki/hr"])
IN_HR_AND_LEADS = fake_principal(id="lea", groups=["wiki/hr", "wiki/leads"])
IN_10_000_GROUPS = fake_principal(
    id="max", groups=["wiki/hr", *(f"mail/list-{n}" for n in range(9_990))]
)

HOSTILE_TEXTS = (
    "a",
    "a\u0000",
    "a\u0000b",
    "a\u0001\u0001b",
    "a\u0001b",
    "'; DROP TABLE documents; --",
    '"],["',
    "%_*?[a]\\",
    "\u05e9\u05dc\u05d5\u05dd \u202ertl\u202c",
    "e\u0301",
    "\u00e9",
    "\U0001f469\u200d\U0001f52c",
    "A",
    " a",
)
"""Texts that are all different, though a store may be tempted to take two for one."""


def a_document(
    name: str = "leave",
    rule: AccessRule = EVERYONE,
    *,
    version: int = 1,
    tenant: TenantId = ACME,
    corpus: CorpusId = HANDBOOK,
    parent: DocumentId | None = None,
) -> Document:
    """Return a document whose id and source id are `name`."""
    return Document(
        id=DocumentId(name),
        tenant_id=tenant,
        corpus_id=corpus,
        source_id=name,
        title=f"{name}, version {version}",
        version=version,
        content_digest=f"digest {version}",
        rule=rule,
        media_type="text/plain",
        updated_at=START,
        parent=parent,
        url=f"https://wiki.example/{version}",
    )


def passages(document: Document, *texts: str) -> list[Chunk]:
    """Return the passages of a document, one a text; of its title where no text is given."""
    return [
        Chunk(
            id=chunk_id(document.id, document.version, ordinal),
            document_id=document.id,
            tenant_id=document.tenant_id,
            corpus_id=document.corpus_id,
            title=document.title,
            ordinal=ordinal,
            text=text,
            heading=("Leave", "Parents"),
            locator=f"page {ordinal + 1}",
            readers=document.rule.readers,
            document_version=document.version,
        )
        for ordinal, text in enumerate(texts or (document.title,))
    ]


def an_index_job(document: Document) -> Job:
    """Return the job that follows from a document's version."""
    key = f"{document.id}:{document.version}"
    return Job("index_document", document.tenant_id, key, {"document_id": str(document.id)})


def a_corpus(corpus: CorpusId = HANDBOOK, tenant: TenantId = ACME, generation: int = 1) -> Corpus:
    """Return a corpus that nothing was read into."""
    return Corpus(corpus, tenant, f"The {corpus}", IndexId(tenant, corpus, generation), "hash@1")


async def reach(
    rules: CompoundRules, principal: Principal = ALICE, corpora: Sequence[CorpusId] = (HANDBOOK,)
) -> Scope:
    """Return the scope of a principal as of now."""
    return ok(await ScopePolicy(rules).resolve(principal, corpora))


async def put(store: DocumentStorePort, document: Document, *texts: str) -> Sequence[Chunk]:
    """Write a document with its passages and its job; return the passages."""
    chunks = passages(document, *texts)
    ok(await store.put(document, chunks, [an_index_job(document)]))
    return chunks


async def stored(store: DocumentStorePort, name: str) -> Document | None:
    """Return acme's document of that source id in the handbook."""
    found = ok(await store.known(ACME, HANDBOOK, [name]))
    return found[0] if found else None


async def put_a_family(store: DocumentStorePort) -> tuple[Document, Document, Document]:
    """Write a mail, a letter attached to it, and a scan attached to the letter."""
    mail = a_document("mail")
    letter = a_document("mail!1", parent=mail.id)
    scan = a_document("mail!1!1", parent=letter.id)
    for document in (mail, letter, scan):
        await put(store, document)
    return mail, letter, scan
