"""What each of five persons can retrieve is what a real wiki shows that person when asked directly."""

from collections.abc import Callable

import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.accounts import DokuWikiAccountsAdapter
from cogni_adapters.wiki.dokuwiki import (
    AclByCall,
    AclFile,
    AclSource,
    DokuWikiConnectorAdapter,
)
from cogni_adapters.wiki.xml_rpc import DokuWikiCalls
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
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import CorpusId, PrincipalId, TenantId
from cogni_testing import FrozenClock, HashEmbedder, LexicalReranker, SequentialIds, ok
from tests.servers.dokuwiki import CRAWLER, CRAWLER_GROUP, DokuWiki

ACME, CORPUS, SITE = TenantId("acme"), CorpusId("wiki"), "wiki.acme.example"

PEOPLE = {
    "ana": ("user", "hr"),
    "bob": ("user", "eng"),
    "cleo": ("user", "eng", "hr"),
    "dan": ("contractor",),
    "eve": ("user", "eng", "contractor"),
}

PAGES = (
    *("start", "hr", "hr:policy", "hr:pay:bands", "hr:public"),
    *("eng:runbook", "eng:incident", "eng:deep:er:note", "open:menu", "open:plans"),
)

ACL = (
    *("* @ALL 0", "* @user 1"),
    *("hr:* @user 0", "hr:* @hr 1", "hr:pay:* @hr 0", "hr:pay:* ana 1", "hr:public @user 1"),
    *("eng:* @contractor 0", "eng:incident @user 0", "eng:incident bob 1"),
    *("eng:deep:* @user 0", "open:* @ALL 1", "open:plans @contractor 0"),
)


class NoFiles(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        raise AssertionError("a wiki's pages are not files")


class Product:
    """The product's own services over memory, with one wiki as their source."""

    def __init__(self, wiki: DokuWiki, acl: Callable[[DokuWikiCalls], AclSource]) -> None:
        clock, state = FrozenClock(), MemoryState()
        calls = DokuWikiCalls(RestClient(wiki.url, auth=(CRAWLER, CRAWLER), pace_s=0))
        self.connector = DokuWikiConnectorAdapter(SITE, calls, acl(calls), page_size=3)
        self.accounts = DokuWikiAccountsAdapter(SITE, wiki.users)
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

    async def start(self) -> None:
        index = IndexId(ACME, CORPUS)
        ok(await self.directory.put_tenant(Tenant(ACME, "Acme")))
        for name in PEOPLE:
            account = Account(PrincipalId(name), ACME, PrincipalKind.HUMAN, name.title())
            ok(await self.directory.put_account(account, f"{name}@acme.example"))
        corpus = Corpus(CORPUS, ACME, "Wiki", index, HashEmbedder().version)
        ok(await self.documents.put_corpus(corpus))

    async def learn_members(self) -> None:
        ok(await self.members.refresh(ACME, [self.accounts]))

    async def ingest(self) -> None:
        ok(await self.indexing.request(ACME, CORPUS, "wiki", {"source": "wiki"}))
        await self.worker.work_off()

    async def found_by(self, name: str) -> set[str]:
        memberships = ok(await self.directory.memberships(ACME, PrincipalId(name)))
        person = Principal(PrincipalId(name), ACME, PrincipalKind.HUMAN, frozenset(), memberships)
        request = RetrievalRequest("handbook", person, (CORPUS,), k=100)
        found = ok(await self.retrieval.retrieve(request))
        return {scored.chunk.title for scored in found.chosen}


def text_of(page: str) -> str:
    return f"====== {page} ======\nThe handbook says {page.replace(':', ' ')}."


def shown_to(wiki: DokuWiki, name: str, pages: set[str]) -> set[str]:
    """Return what the wiki itself gives a person, page by page."""
    found = set()
    for page in pages:
        try:
            if wiki.call("wiki.getPage", page, who=name):
                found.add(page)
        except PermissionError:
            continue
    return found


async def compare(product: Product, wiki: DokuWiki, pages: set[str]) -> dict[str, set[str]]:
    found = {name: await product.found_by(name) for name in PEOPLE}
    assert found == {name: shown_to(wiki, name, pages) for name in PEOPLE}
    return found


@pytest.fixture
def populated(wiki: DokuWiki) -> DokuWiki:
    wiki.set_people(PEOPLE)
    wiki.set_acl(*ACL)
    for page in PAGES:
        wiki.put(page, text_of(page))
    return wiki


def by_file(wiki: DokuWiki) -> Callable[[DokuWikiCalls], AclSource]:
    return lambda calls: AclFile(wiki.acl)


def by_call(wiki: DokuWiki) -> Callable[[DokuWikiCalls], AclSource]:
    return lambda calls: AclByCall(calls, CRAWLER, frozenset({CRAWLER_GROUP}))


@pytest.mark.parametrize("acl", [by_file, by_call])
async def test_each_of_five_persons_finds_what_the_wiki_shows_them(
    populated: DokuWiki, acl: Callable[[DokuWiki], Callable[[DokuWikiCalls], AclSource]]
) -> None:
    wiki, product = populated, Product(populated, acl(populated))
    pages = set(PAGES)
    await product.start()
    await product.learn_members()

    await product.ingest()
    first = await compare(product, wiki, pages)

    wiki.set_acl(*ACL, "eng:runbook @user 0", "eng:runbook cleo 1", "hr:pay:bands eve 1")
    await product.ingest()
    narrowed = await compare(product, wiki, pages)

    wiki.put("hr:runbook", text_of("hr:runbook"))
    wiki.put("eng:runbook", "")
    wiki.put("open:plans", "")
    pages |= {"hr:runbook"}
    await product.ingest()
    moved = await compare(product, wiki, pages)

    assert first["dan"] == {"open:menu"}
    assert "eng:runbook" in first["bob"] - narrowed["bob"]
    assert "hr:pay:bands" in narrowed["eve"] - first["eve"]
    assert "hr:runbook" in moved["ana"] - moved["bob"]
    assert not any("open:plans" in found for found in moved.values())


async def test_a_person_who_leaves_a_group_loses_its_pages_with_nothing_indexed_anew(
    populated: DokuWiki,
) -> None:
    product = Product(populated, by_file(populated))
    await product.start()
    await product.learn_members()
    await product.ingest()
    before = await compare(product, populated, set(PAGES))

    populated.set_people({**PEOPLE, "ana": ("user",), "dan": ("contractor", "hr")})
    await product.learn_members()
    after = await compare(product, populated, set(PAGES))

    assert "hr:policy" in before["ana"] - after["ana"]
    assert "hr:policy" in after["dan"] - before["dan"]


async def test_wildcards_mean_what_the_wiki_makes_of_them(populated: DokuWiki) -> None:
    homes = {"home:ana:diary", "home:bob:diary"}
    for page in sorted(homes):
        populated.put(page, text_of(page))
    populated.set_acl(
        "* @ALL 0", "%GROUP% @ALL 1", "%GROUP%:* %GROUP% 16", "home:%USER%:* %USER% 8"
    )
    product = Product(populated, by_file(populated))
    await product.start()
    await product.learn_members()

    await product.ingest()
    found = await compare(product, populated, {*PAGES, *homes})

    assert found["ana"] >= {"hr", "hr:policy", "home:ana:diary"}
    assert "home:bob:diary" not in found["ana"]


async def test_what_no_rule_can_say_is_shown_to_nobody_and_listed(populated: DokuWiki) -> None:
    populated.set_acl("* @ALL 1", "hr:* @contractor 0", "hr:* eve 1")
    product = Product(populated, by_file(populated))
    await product.start()
    await product.learn_members()

    await product.ingest()
    found = {name: await product.found_by(name) for name in PEOPLE}

    hidden = {page for page in PAGES if page.startswith("hr:")}
    shown = {name: shown_to(populated, name, set(PAGES)) for name in PEOPLE}
    assert found == {name: pages - hidden for name, pages in shown.items()}
    gaps = ok(await product.documents.gaps(ACME, CORPUS))
    assert {gap.name for gap in gaps} == hidden


async def test_an_access_list_that_cannot_be_read_shows_nothing_and_says_so(
    populated: DokuWiki,
) -> None:
    product = Product(populated, by_file(populated))
    await product.start()
    await product.learn_members()
    await product.ingest()
    populated.acl.rename(populated.acl.with_suffix(".away"))

    await product.ingest()
    populated.acl.with_suffix(".away").rename(populated.acl)

    gaps = ok(await product.documents.gaps(ACME, CORPUS))
    assert {gap.reason for gap in gaps} == {"unmappable"}
    assert len(gaps) == len(PAGES)
    assert [await product.found_by(name) for name in PEOPLE] == [set()] * len(PEOPLE)
