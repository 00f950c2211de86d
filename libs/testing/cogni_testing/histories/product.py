"""The product with one tenant that is fed from a company, and what a person's request sees in it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import numpy as np

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import IndexingService
from cogni_application.indexing.intake import INDEX, Intake
from cogni_application.indexing.standing import RELABEL, REMOVE
from cogni_application.lanes import LaneWorker
from cogni_domain.access.directory import Account, Tenant, VerifiedClaims
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.principal import MembershipState, Principal, PrincipalKind
from cogni_domain.access.resolver import HostToken, PrincipalResolver, TokenVerifier
from cogni_domain.access.scope import Scope, ScopePolicy
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.queue import QueuePort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import CorpusId, DocumentId, Err, Ok, PrincipalId, Result, TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import FrozenClock, SequentialIds
from cogni_testing.histories.company import Company
from cogni_testing.histories.source import Plain, Same, Wiki

TERMS = ("leav",)
NEAR: Vectors = np.array([[1.0, 0.0]], np.float32)
ALL, FEW = 200, 2


@dataclass
class Stores:
    """What the product keeps things in, for all the tenants that share them."""

    documents: DocumentStorePort
    rules: AccessRulesPort
    queue: QueuePort
    directory: DirectoryPort
    keywords: KeywordSearchPort
    vectors: VectorStorePort
    clock: FrozenClock
    embedder: EmbedderPort = field(default_factory=Same)

    def __post_init__(self) -> None:
        self.reading = asyncio.Lock()
        writer = IndexWriter(self.documents, self.keywords, self.vectors, self.embedder)
        handlers = {INDEX: writer.index, RELABEL: writer.relabel, REMOVE: writer.remove}
        self.worker = LaneWorker(self.queue, Lane.INDEXING, handlers)

    @classmethod
    def in_memory(cls, embedder: EmbedderPort | None = None) -> "Stores":
        state, clock = MemoryState(), FrozenClock()
        return cls(
            MemoryDocumentStoreAdapter(state),
            MemoryAccessRulesAdapter(state),
            MemoryQueueAdapter(state, clock),
            MemoryDirectoryAdapter(),
            MemoryKeywordSearchAdapter(),
            MemoryVectorStoreAdapter(),
            clock,
            embedder or Same(),
        )

    async def is_drained(self) -> bool:
        """Whether everything that anybody was told of is indexed."""
        return ok(await self.queue.depth(Lane.INDEXING)) == 0


@dataclass(frozen=True)
class Seen:
    """What one request saw: by id, in each search, and how many of two places a search filled, if that was asked."""

    by_id: set[str] = field(default_factory=set)
    found: dict[str, set[str]] = field(
        default_factory=lambda: {"keywords": set(), "vectors": set()}
    )
    filled: dict[str, int] = field(default_factory=dict)

    def everything(self) -> set[str]:
        return self.by_id.union(*self.found.values())


class NoTokens(TokenVerifier):
    """Nobody signs in here: people are asked for by their id."""

    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        raise NotImplementedError


class Product:
    """One tenant in the product, fed from a company.

    Args:
        new_id: What documents are called, one after the other.
    """

    def __init__(
        self,
        company: Company,
        stores: Stores,
        tenant: str,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.company, self.stores = company, stores
        self.tenant, self.corpus_id = TenantId(tenant), CorpusId("handbook")
        self.wiki = Wiki(company)
        index = IndexId(self.tenant, self.corpus_id)
        self.corpus = Corpus(
            self.corpus_id, self.tenant, "Handbook", index, stores.embedder.version
        )
        self.scopes = ScopePolicy(stores.rules)
        self.resolver = PrincipalResolver(NoTokens(), stores.directory, GrantCatalogue())
        ids = new_id or SequentialIds(tenant)
        intake = Intake(stores.documents, Plain(), ChunkPolicy(), stores.clock, ids)
        self.indexing = IndexingService(
            stores.documents, stores.queue, intake, stores.clock, lambda _: self.wiki
        )
        self._told: dict[str, object] = {}
        self._names: dict[DocumentId, str] = {}
        self._has_news = True

    async def set_up(self) -> None:
        ok(await self.stores.documents.put_corpus(self.corpus))
        await self.tell_people()

    async def tell_people(self) -> None:
        """Tell of the tenant and of every person, where something about them is new."""
        if self._is_news("", self.company.enabled):
            tenant = Tenant(self.tenant, "Acme", self.company.enabled)
            ok(await self.stores.directory.put_tenant(tenant))
        for number, person in enumerate(self.company.world.people):
            active = person not in self.company.suspended
            is_unknown = person in self.company.unknown
            groups = self.company.groups_of(person)
            if not self._is_news(person, (active, is_unknown, groups)):
                continue
            principal = PrincipalId(person)
            account = Account(principal, self.tenant, PrincipalKind.HUMAN, person, active=active)
            ok(await self.stores.directory.put_account(account, f"sign-in {number}"))
            state = MembershipState.UNKNOWN if is_unknown else MembershipState.KNOWN
            ok(await self.stores.directory.set_memberships(self.tenant, principal, groups, state))

    def _is_news(self, of: str, said: object) -> bool:
        before, self._told[of] = self._told.get(of), said
        return before != said

    async def tell(self, kind: ChangeKind, pages: Sequence[str]) -> None:
        """Tell of pages that changed, one after the other."""
        self._has_news = True
        for page in pages:
            is_there = page in self.company.pages
            document = self.wiki.listed(page) if is_there else None
            event = ChangeEvent(kind if is_there else ChangeKind.DELETED, page, document)
            ok(await self.indexing.on_change(self.corpus, self.wiki, event))

    async def ingest(self) -> None:
        """Read the whole source, without having been told of anything."""
        self._has_news = True
        queue, payload = self.stores.queue, {"corpus_id": str(self.corpus_id)}
        async with self.stores.reading:
            ok(await queue.enqueue(Job("ingest", self.tenant, "wiki", payload), Lane.AMBIENT))
            [job] = ok(await queue.dequeue(Lane.AMBIENT, timedelta(hours=1)))
            ok((await self.indexing.ingest([job]))[0])
            ok(await queue.complete([job]))

    async def principal(self, person: str) -> Principal | None:
        found = await self.resolver.current(self.tenant, PrincipalId(person))
        return found.value if isinstance(found, Ok) else None

    async def seen(self, person: str) -> Seen:
        """Return what a person's request would see now, by each way there is."""
        principal = await self.principal(person)
        return Seen() if principal is None else await self._seen_by(principal)

    async def seen_by_delegate(self, machine: str, person: str) -> Seen:
        """Return what a machine sees that acts for a person."""
        robot, behind = await self.principal(machine), await self.principal(person)
        if robot is None or behind is None:
            return Seen()
        kind = PrincipalKind.DELEGATED
        return await self._seen_by(replace(robot, kind=kind, on_behalf_of=behind))

    async def _seen_by(self, principal: Principal) -> Seen:
        resolved = await self.scopes.resolve(principal, [self.corpus_id])
        if isinstance(resolved, Err):
            return Seen()
        scope, index, stores = resolved.value, self.corpus.index, self.stores
        reach = scope.predicate
        hits = {
            "keywords": ok(await stores.keywords.search(index, TERMS, reach, ALL)),
            "vectors": ok(await stores.vectors.knn(index, NEAR, reach, ALL)),
        }
        proposed = {hit.chunk_id for of_one in hits.values() for hit in of_one}
        current = ok(await stores.documents.current(sorted(proposed, key=str), scope))
        names = {chunk.id: _name(chunk.title) for chunk in current}
        found = {
            way: {names[hit.chunk_id] for hit in of_one if hit.chunk_id in names}
            for way, of_one in hits.items()
        }
        return Seen(await self._by_id(scope), found, await self._filled(scope))

    async def _filled(self, scope: Scope) -> dict[str, int]:
        if self.company.world.asks_everybody:
            return {}
        stores, index, reach = self.stores, self.corpus.index, scope.predicate
        return {
            "keywords": len(ok(await stores.keywords.search(index, TERMS, reach, FEW))),
            "vectors": len(ok(await stores.vectors.knn(index, NEAR, reach, FEW))),
        }

    async def documents(self) -> dict[str, DocumentId]:
        """Return what is stored, by the names of pages and attachments."""
        pages = self.company.world.pages
        sources = [f"wiki:{page}{attached}" for page in pages for attached in ("", "!1")]
        known = ok(await self.stores.documents.known(self.tenant, self.corpus_id, sources))
        return {_name(document.title): document.id for document in known}

    async def _by_id(self, scope: Scope) -> set[str]:
        """Ask for every document that there ever was, by its id."""
        if self._has_news:
            known = await self.documents()
            self._names.update({document: name for name, document in known.items()})
            self._has_news = False
        readable = ok(await self.stores.documents.readable(self._names, scope))
        return {self._names[document] for document in readable}


def _name(title: str) -> str:
    """Return a page's name, or its attachment's."""
    return f"{title[:-4]}!1" if title.endswith(".txt") else title
