"""The DokuWiki connector on a scripted wiki; `tests/e2e` runs it on a real one."""

import hashlib
import xmlrpc.client
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.dokuwiki import (
    AclByCall,
    AclFile,
    AclSource,
    DokuWikiConnectorAdapter,
)
from cogni_adapters.wiki.xml_rpc import DokuWikiCalls
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.knowledge.source import SourceDocument
from cogni_kernel import NotFoundError, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.connector import ConnectorContract

GROUPS = frozenset({"crawlers"})


class Wiki:
    """Pages in a dictionary; `instead` answers a call in the wiki's place where it returns something."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.acl: dict[str, dict[str, str]] = {"*": {"@ALL": "1"}}
        self.rights = 255
        self.instead: Callable[[str], httpx2.Response | None] = lambda method: None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        arguments, method = xmlrpc.client.loads(request.read())
        return self.instead(str(method)) or answers(self._answer(str(method), arguments))

    def _answer(self, method: str, arguments: Any) -> Any:
        if method == "wiki.getPage":
            return self.pages.get(arguments[0], "")
        if method == "plugin.acl.listAcls":
            return self.acl
        if method == "wiki.aclCheck":
            return self.rights
        assert method == "dokuwiki.getPagelist"
        return [listed(page, text) for page, text in self.pages.items()]

    def connector(self, acl: AclSource | None = None) -> DokuWikiConnectorAdapter:
        async def at_once(seconds: float) -> None:
            pass

        client = RestClient(
            "https://wiki.acme.example",
            pace_s=0,
            transport=httpx2.MockTransport(self),
            sleep=at_once,
        )
        calls = DokuWikiCalls(client)
        return DokuWikiConnectorAdapter(
            "wiki.acme.example",
            calls,
            acl or AclByCall(calls, "crawler", GROUPS),
            page_size=10,
            pause_s=0.01,
        )


def listed(page: str, text: str) -> dict[str, Any]:
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    when = 1_700_000_000
    return {"id": page, "rev": when, "mtime": when, "size": len(text), "hash": digest}


def answers(value: Any) -> httpx2.Response:
    return httpx2.Response(200, text=xmlrpc.client.dumps((value,), methodresponse=True))


def faults(code: int) -> httpx2.Response:
    return httpx2.Response(200, text=xmlrpc.client.dumps(xmlrpc.client.Fault(code, "No.")))


@pytest.fixture
def wiki() -> Wiki:
    return Wiki()


class TestDokuWikiConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def a_wiki_of_its_own(self, wiki: Wiki) -> None:
        self.wiki = wiki

    def make_connector(self, texts: Mapping[str, str]) -> DokuWikiConnectorAdapter:
        self.wiki.pages.update(texts)
        return self.reopen()

    def reopen(self) -> DokuWikiConnectorAdapter:
        return self.wiki.connector()

    def write(self, name: str, text: str) -> None:
        self.wiki.pages[name] = text

    def remove(self, name: str) -> None:
        self.wiki.pages.pop(name)


async def only(connector: DokuWikiConnectorAdapter) -> SourceDocument:
    (document,) = ok(await connector.enumerate(None)).documents
    return document


@pytest.mark.parametrize(
    "answer",
    [
        answers({}),
        answers("no list"),
        answers([{"id": "start"}]),
        answers([{"id": ["start"]}]),
        httpx2.Response(200, text=""),
        httpx2.Response(200, text="<html>Sign in</html>"),
        httpx2.Response(200, text='<?xml version="1.0"?><methodResponse><params>'),
        httpx2.Response(200, text='<!DOCTYPE x [<!ENTITY a "b">]><methodResponse/>'),
        httpx2.Response(401),
        httpx2.Response(403),
        httpx2.Response(429),
        httpx2.Response(500),
        faults(-32603),
    ],
)
async def test_a_list_that_cannot_be_had_is_never_an_empty_one(
    wiki: Wiki, answer: httpx2.Response
) -> None:
    wiki.instead = lambda method: answer if method == "dokuwiki.getPagelist" else None

    err(await wiki.connector().enumerate(None), UpstreamError)


async def test_a_crawler_that_sees_a_part_lists_nothing(wiki: Wiki) -> None:
    wiki.pages["start"] = "Open."
    wiki.rights = 16

    assert not err(await wiki.connector().enumerate(None), UpstreamError).retryable


async def test_an_address_is_given_with_every_page(wiki: Wiki) -> None:
    wiki.pages["hr:café"] = "Open."

    document = await only(wiki.connector())

    assert document.url == "https://wiki.acme.example/doku.php?id=hr:caf%C3%A9"


async def test_a_page_whose_readers_changed_since_is_not_given_out(wiki: Wiki) -> None:
    wiki.pages["start"] = "Secret by now."
    document = await only(wiki.connector())
    wiki.acl["start"] = {"@hr": "1", "@ALL": "0"}

    err(await wiki.connector().extract(document), NotFoundError)


@pytest.mark.parametrize("answer", [httpx2.Response(403), faults(111), faults(121)])
async def test_a_page_that_the_crawler_may_not_read_any_more_is_gone(
    wiki: Wiki, answer: httpx2.Response
) -> None:
    wiki.pages["start"] = "Open."
    document = await only(wiki.connector())
    wiki.instead = lambda method: answer if method == "wiki.getPage" else None

    err(await wiki.connector().extract(document), NotFoundError)


@pytest.mark.parametrize("answer", [httpx2.Response(401), answers({}), answers(7), faults(-1)])
async def test_a_page_that_cannot_be_had_now_is_not_taken_for_gone(
    wiki: Wiki, answer: httpx2.Response
) -> None:
    wiki.pages["start"] = "Open."
    document = await only(wiki.connector())
    wiki.instead = lambda method: answer if method == "wiki.getPage" else None

    err(await wiki.connector().extract(document), UpstreamError)


async def test_a_page_without_text_is_skipped(wiki: Wiki) -> None:
    wiki.pages["start"] = "{{picture.png}}"
    document = await only(wiki.connector())

    found = ok(await wiki.connector().extract(document))

    assert isinstance(found, Skipped)
    assert found.reason is Reason.EMPTY


@pytest.mark.parametrize("answer", [httpx2.Response(403), httpx2.Response(401), faults(114)])
async def test_an_access_list_that_cannot_be_read_maps_nothing(
    wiki: Wiki, answer: httpx2.Response
) -> None:
    wiki.pages["start"] = "Open."
    wiki.instead = lambda method: answer if method == "plugin.acl.listAcls" else None

    assert isinstance((await only(wiki.connector())).rule, Unmappable)


@pytest.mark.parametrize("answer", [httpx2.Response(503), answers({})])
async def test_an_access_list_that_is_away_for_a_moment_stops_the_listing(
    wiki: Wiki, answer: httpx2.Response
) -> None:
    wiki.pages["start"] = "Open."
    wiki.instead = lambda method: answer if method == "plugin.acl.listAcls" else None

    err(await wiki.connector().enumerate(None), UpstreamError)


@pytest.mark.parametrize(
    "acl",
    [
        {"*": {"@ALL": "0"}, "crawlers:*": {"@crawlers": "16"}},
        {"*": {"@ALL": "0", "crawler": "1"}},
        {"*": {"@ALL": "0"}, "user:crawler": {"@ALL": "1"}},
    ],
)
async def test_a_list_that_may_hold_wildcards_filled_in_for_the_crawler_maps_nothing(
    wiki: Wiki, acl: dict[str, dict[str, str]]
) -> None:
    wiki.pages["team1:plan"] = "Ours."
    wiki.acl = acl

    assert isinstance((await only(wiki.connector())).rule, Unmappable)


def test_a_crawler_without_a_group_would_not_see_wildcards(wiki: Wiki) -> None:
    with pytest.raises(ValueError, match="a group of its own"):
        AclByCall(wiki.connector()._calls, "crawler", frozenset())


async def test_the_list_itself_shows_wildcards_as_they_are(wiki: Wiki, tmp_path: Path) -> None:
    wiki.pages["team1:plan"] = "Ours."
    path = tmp_path / "acl.auth.php"
    path.write_text("* @ALL 0\n%GROUP%:* %GROUP% 16")

    document = await only(wiki.connector(AclFile(path)))

    assert document.rule == AccessRule.any_of("g:wiki.acme.example/group/team1")


async def test_a_list_that_is_not_there_maps_nothing(wiki: Wiki, tmp_path: Path) -> None:
    wiki.pages["start"] = "Open."

    document = await only(wiki.connector(AclFile(tmp_path / "acl.auth.php")))

    assert isinstance(document.rule, Unmappable)
