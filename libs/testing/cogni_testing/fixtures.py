"""Principals, scopes, registries and small corpora with their permissions, in one line each."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import CompoundRules, Scope, ScopePolicy
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document, IndexId, chunk_id
from cogni_engine import Base, Registry
from cogni_kernel import CorpusId, DocumentId, GrantKey, Ok, PrincipalId, Result, TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import START, HashEmbedder

T = TypeVar("T")
TENANT = "acme"
CORPUS = "handbook"


@dataclass(frozen=True, slots=True)
class CorpusFixture:
    """Documents with their access rules and passages, as a store would hold them."""

    corpus: Corpus
    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]

    def document(self, title: str) -> Document:
        """Return the document of that title."""
        return next(d for d in self.documents if d.title == title)

    def chunks_of(self, document: Document) -> tuple[Chunk, ...]:
        """Return its passages, in order."""
        return tuple(c for c in self.chunks if c.document_id == document.id)


def fake_principal(  # noqa: PLR0913 - each part of a principal, all with a default
    grants: Iterable[str] = (),
    tenant: str | None = TENANT,
    *,
    id: str = "alice",  # noqa: A002 - the field's name
    groups: Iterable[str] = (),
    attributes: Mapping[str, str] | None = None,
    state: MembershipState = MembershipState.KNOWN,
    machine: bool = False,
    on_behalf_of: Principal | None = None,
) -> Principal:
    """Return a person; a machine, or one that acts for `on_behalf_of`, where that is said."""
    kind = PrincipalKind.MACHINE if machine else PrincipalKind.HUMAN
    return Principal(
        id=PrincipalId(id),
        tenant_id=None if tenant is None else TenantId(tenant),
        kind=kind if on_behalf_of is None else PrincipalKind.DELEGATED,
        grants=frozenset(map(GrantKey, grants)),
        memberships=Memberships(frozenset(groups), state, version=1),
        attributes=attributes or {},
        on_behalf_of=on_behalf_of,
        display_name=id.title(),
    )


def fake_scope(
    principal: Principal | None = None,
    corpora: Iterable[str] = (CORPUS,),
    *,
    rules: Iterable[AccessRule] = (),
) -> Scope:
    """Return what the product's own policy makes of a principal, with these compound rules in force."""
    policy = ScopePolicy(_GivenRules(tuple(rules)))
    return ok(_at_once(policy.resolve(principal or fake_principal(), map(CorpusId, corpora))))


def fake_registry(tools: Iterable[type[Base]]) -> Registry:
    """Return a registry that offers exactly these tools, whatever their grants."""
    return Registry(tuple(tools))


def corpus_fixture(
    docs: Mapping[str, str],
    acls: Mapping[str, AccessRule],
    *,
    tenant: str = TENANT,
    corpus: str = CORPUS,
) -> CorpusFixture:
    """Return a corpus of plain texts by title; each paragraph is a passage.

    Raises:
        ValueError: A document has no rule, or a rule no document: readers are never a default.
    """
    if set(docs) != set(acls):
        raise ValueError(f"documents and rules differ: {sorted(set(docs) ^ set(acls))}")
    index = IndexId(TenantId(tenant), CorpusId(corpus))
    documents = tuple(_document(index, title, acls[title]) for title in docs)
    chunks = tuple(c for d in documents for c in _chunks(d, docs[d.title]))
    whole = Corpus(index.corpus_id, index.tenant_id, corpus, index, HashEmbedder().version)
    return CorpusFixture(whole, documents, chunks)


@dataclass(frozen=True, slots=True)
class _GivenRules(CompoundRules):
    rules: tuple[AccessRule, ...]

    async def candidates(
        self,
        tenant: TenantId,  # noqa: ARG002 - all rules are of the one tenant
        tokens: frozenset[ReaderToken],
    ) -> Result[Sequence[AccessRule]]:
        return Ok([r for r in self.rules if any(clause & tokens for clause in r.clauses)])


def _document(index: IndexId, title: str, rule: AccessRule) -> Document:
    return Document(
        id=DocumentId(f"{index.tenant_id}-{index.corpus_id}-{title}"),
        tenant_id=index.tenant_id,
        corpus_id=index.corpus_id,
        source_id=title,
        title=title,
        version=1,
        content_digest=f"digest of {title}",
        rule=rule,
        media_type="text/plain",
        updated_at=START,
    )


def _chunks(document: Document, text: str) -> Iterable[Chunk]:
    paragraphs = [p.strip() for p in text.split("\n\n") if p.strip()]
    return (
        Chunk(
            id=chunk_id(document.id, document.version, ordinal),
            document_id=document.id,
            tenant_id=document.tenant_id,
            corpus_id=document.corpus_id,
            title=document.title,
            ordinal=ordinal,
            text=paragraph,
            heading=(),
            locator=f"paragraph {ordinal + 1}",
            readers=document.rule.readers,
            document_version=document.version,
        )
        for ordinal, paragraph in enumerate(paragraphs)
    )


def _at_once(work: Coroutine[object, None, T]) -> T:
    """Return what a coroutine that never waits comes to."""
    try:
        work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    raise RuntimeError("the coroutine waited for something")
