"""What each of five persons can retrieve is what a real wiki shows that person when asked directly."""

from collections.abc import Callable

import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.accounts import DokuWikiAccountsAdapter
from cogni_adapters.wiki.dokuwiki import (
    AclByCall,
    AclFile,
    AclSource,
    DokuWikiConnectorAdapter,
)
from cogni_adapters.wiki.xml_rpc import DokuWikiCalls
from cogni_testing import ok
from tests.e2e.product import ACME, CORPUS, Product
from tests.servers.dokuwiki import CRAWLER, CRAWLER_GROUP, DokuWiki

SITE = "wiki.acme.example"

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


def product_of(wiki: DokuWiki, acl: Callable[[DokuWikiCalls], AclSource]) -> Product:
    calls = DokuWikiCalls(RestClient(wiki.url, auth=(CRAWLER, CRAWLER), pace_s=0))
    connector = DokuWikiConnectorAdapter(SITE, calls, acl(calls), page_size=3)
    return Product(connector, DokuWikiAccountsAdapter(SITE, wiki.users))


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
    wiki, product = populated, product_of(populated, acl(populated))
    pages = set(PAGES)
    await product.start(PEOPLE)

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
    product = product_of(populated, by_file(populated))
    await product.start(PEOPLE)
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
    product = product_of(populated, by_file(populated))
    await product.start(PEOPLE)

    await product.ingest()
    found = await compare(product, populated, {*PAGES, *homes})

    assert found["ana"] >= {"hr", "hr:policy", "home:ana:diary"}
    assert "home:bob:diary" not in found["ana"]


async def test_wildcards_that_only_the_calls_show_map_nothing(populated: DokuWiki) -> None:
    populated.set_acl("* @ALL 1", "%GROUP%:* %GROUP% 16")
    product = product_of(populated, by_call(populated))
    await product.start(PEOPLE)

    await product.ingest()

    assert [await product.found_by(name) for name in PEOPLE] == [set()] * len(PEOPLE)
    assert len(ok(await product.documents.gaps(ACME, CORPUS))) == len(PAGES)


async def test_what_no_rule_can_say_is_shown_to_nobody_and_listed(populated: DokuWiki) -> None:
    populated.set_acl("* @ALL 1", "hr:* @contractor 0", "hr:* eve 1")
    product = product_of(populated, by_file(populated))
    await product.start(PEOPLE)

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
    product = product_of(populated, by_file(populated))
    await product.start(PEOPLE)
    await product.ingest()
    populated.acl.rename(populated.acl.with_suffix(".away"))

    await product.ingest()
    populated.acl.with_suffix(".away").rename(populated.acl)

    gaps = ok(await product.documents.gaps(ACME, CORPUS))
    assert {gap.reason for gap in gaps} == {"unmappable"}
    assert len(gaps) == len(PAGES)
    assert [await product.found_by(name) for name in PEOPLE] == [set()] * len(PEOPLE)
