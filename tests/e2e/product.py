"""The product's own services over memory, with one source, and what each person finds there."""

from collections.abc import Iterable

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import INGEST, IndexingService
from cogni_application.indexing.intake import INDEX, Intake
from cogni_application.indexing.standing import RELABEL, REMOVE
from cogni_application.lanes import LaneWorker
from cogni_application.memberships import MembershipService
from cogni_application.retrieval.retrieve import RetrievalRequest, RetrievalService
from cogni_domain.access.directory import Account, Tenant
from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.jobs import Lane
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Chunk, Corpus, IndexId
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.ports.accounts import AccountsPort
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import CorpusId, PrincipalId, TenantId
from cogni_testing import FrozenClock, HashEmbedder, LexicalReranker, SequentialIds, ok

ACME, CORPUS = TenantId("acme"), CorpusId("source")


class NoFiles(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        raise AssertionError("these documents are not files")


class Product:
    """A tenant whose people are the source's accounts, by their addresses."""

    def __init__(self, connector: ConnectorPort, accounts: AccountsPort) -> None:
        clock, state = FrozenClock(), MemoryState()
        self.connector, self.accounts = connector, accounts
        self.directory = MemoryDirectoryAdapter()
        self.members = MembershipService(self.directory, clock)
        self.documents = MemoryDocumentStoreAdapter(state)
        queue = MemoryQueueAdapter(state, clock)
        keywords, vectors = MemoryKeywordSearchAdapter(), MemoryVectorStoreAdapter()
        intake = Intake(self.documents, NoFiles(), ChunkPolicy(), clock, SequentialIds("d"))
        self.indexing = IndexingService(
            self.documents, queue, intake, clock, lambda job: self.connector
        )
        writer = IndexWriter(self.documents, keywords, vectors, HashEmbedder())
        handlers = {INGEST: self.indexing.ingest, INDEX: writer.index}
        handlers |= {RELABEL: writer.relabel, REMOVE: writer.remove}
        self.worker = LaneWorker(queue, Lane.INDEXING, handlers)
        self.retrieval = RetrievalService(
            ScopePolicy(MemoryAccessRulesAdapter(state)),
            self.documents,
            keywords,
            vectors,
            HashEmbedder(),
            LexicalReranker(),
            RelevancePolicy(0.3),
        )

    async def start(self, people: Iterable[str]) -> None:
        """Open the tenant with these people, and learn their groups."""
        index = IndexId(ACME, CORPUS)
        ok(await self.directory.put_tenant(Tenant(ACME, "Acme")))
        for name in people:
            account = Account(PrincipalId(name), ACME, PrincipalKind.HUMAN, name.title())
            ok(await self.directory.put_account(account, f"{name}@acme.example"))
        corpus = Corpus(CORPUS, ACME, "Source", index, HashEmbedder().version)
        ok(await self.documents.put_corpus(corpus))
        await self.learn_members()

    async def learn_members(self) -> None:
        ok(await self.members.refresh(ACME, [self.accounts]))

    async def ingest(self) -> None:
        ok(await self.indexing.request(ACME, CORPUS, "source", {}))
        await self.worker.work_off()

    async def found_by(self, name: str) -> set[str]:
        """Return the titles of what a person finds."""
        return {chunk.title for chunk in await self._found(name)}

    async def texts_of(self, name: str) -> set[str]:
        """Return the texts of what a person finds."""
        return {chunk.text for chunk in await self._found(name)}

    async def _found(self, name: str) -> list[Chunk]:
        memberships = ok(await self.directory.memberships(ACME, PrincipalId(name)))
        person = Principal(PrincipalId(name), ACME, PrincipalKind.HUMAN, frozenset(), memberships)
        request = RetrievalRequest("handbook", person, (CORPUS,), k=100)
        found = ok(await self.retrieval.retrieve(request))
        return [scored.chunk for scored in found.chosen]
