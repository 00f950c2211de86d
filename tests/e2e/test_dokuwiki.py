"""A real DokuWiki keeps the connectors' contract, and its access list means what the mapping says."""

import asyncio
import random
from collections.abc import Mapping

import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.dokuwiki import AclFile, DokuWikiConnectorAdapter
from cogni_adapters.wiki.permissions import DokuWikiAcl, acl_lines
from cogni_adapters.wiki.xml_rpc import DokuWikiCalls
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.source_accounts import SourceAccount, SourceAccounts
from cogni_domain.access.tokens import EVERYONE, ReaderToken, group_token
from cogni_domain.knowledge.source import ChangeKind
from cogni_kernel import UpstreamError
from cogni_testing.assertions import err
from cogni_testing.contracts.connector import ConnectorContract
from tests.servers.dokuwiki import CRAWLER, DokuWiki


def connector(wiki: DokuWiki) -> DokuWikiConnectorAdapter:
    client = RestClient(wiki.url, auth=(CRAWLER, CRAWLER), pace_s=0)
    calls = DokuWikiCalls(client)
    return DokuWikiConnectorAdapter(
        "wiki.acme.example", calls, AclFile(wiki.acl), page_size=10, pause_s=0.05
    )


class TestDokuWikiConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def an_empty_wiki(self, wiki: DokuWiki) -> None:
        self.wiki = wiki

    def make_connector(self, texts: Mapping[str, str]) -> DokuWikiConnectorAdapter:
        for name, text in texts.items():
            self.write(name, text)
        return self.reopen()

    def reopen(self) -> DokuWikiConnectorAdapter:
        return connector(self.wiki)

    def write(self, name: str, text: str) -> None:
        self.wiki.put(name, text)

    def remove(self, name: str) -> None:
        self.wiki.put(name, "")


async def test_a_new_access_list_and_a_move_are_told(wiki: DokuWiki) -> None:
    wiki.put("hr:plan", "The plan.")
    changes = connector(wiki).changes()
    first = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(1)

    wiki.set_acl("* @ALL 1", "hr:* @hr 1", "hr:* @ALL 0")
    narrowed = await asyncio.wait_for(first, 30)
    wiki.put("open:plan", "The plan.")
    made = await asyncio.wait_for(anext(changes), 30)
    wiki.put("hr:plan", "")
    gone = await asyncio.wait_for(anext(changes), 30)

    assert [(e.kind, e.source_id) for e in (narrowed, made, gone)] == [
        (ChangeKind.ACL_CHANGED, "hr:plan"),
        (ChangeKind.EDITED, "open:plan"),
        (ChangeKind.DELETED, "hr:plan"),
    ]
    assert narrowed.document is not None
    assert narrowed.document.rule == AccessRule.any_of("g:wiki.acme.example/group/hr")
    assert made.document is not None
    assert made.document.rule == AccessRule.everyone()


async def test_a_crawler_that_is_no_superuser_lists_nothing(wiki: DokuWiki) -> None:
    wiki.put("start", "Open.")
    wiki.set_people({"ana": ("user",)})
    calls = DokuWikiCalls(RestClient(wiki.url, auth=("ana", "ana"), pace_s=0))

    found = DokuWikiConnectorAdapter("wiki.acme.example", calls, AclFile(wiki.acl))

    assert not err(await found.enumerate(None), UpstreamError).retryable


NAMES = ("ana", "bob", "@hr", "@eng", "@user", "@ALL")
PLACES = ("*", "hr:*", "hr:pay:*", "start", "hr:policy", "hr:pay:bands")
PEOPLE = {"ana": ["user", "hr"], "bob": ["user", "eng"], "dan": []}


def tokens(name: str, groups: list[str]) -> frozenset[ReaderToken]:
    account = SourceAccount(name, "", frozenset(groups))
    own = SourceAccounts("wiki", (account,)).groups_of(account)
    return frozenset({EVERYONE, *map(group_token, own)})


def test_lists_at_random_mean_what_the_wiki_makes_of_them(wiki: DokuWiki) -> None:
    """The wiki says what it would let a person do with groups of any kind."""
    chance, mapped = random.Random(7), 0
    for _ in range(60):
        lines = [
            f"{chance.choice(PLACES)} {chance.choice(NAMES)} {chance.choice((0, 1, 8))}"
            for _ in range(chance.randint(1, 7))
        ]
        wiki.set_acl(*lines)
        acl = DokuWikiAcl("wiki", acl_lines(wiki.acl.read_text()))
        for page in PLACES[3:]:
            rule = acl.rule_of(page)
            if isinstance(rule, AccessRule):
                mapped += 1
                for name, groups in PEOPLE.items():
                    level = wiki.call("wiki.aclCheck", page, name, groups)
                    assert rule.admits(tokens(name, groups)) == (level >= 1), (lines, page, name)
    assert mapped > 100
