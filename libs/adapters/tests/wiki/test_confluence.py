"""The Confluence connector on a double that speaks the cloud's interface."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from cogni_adapters.extraction.child import extract as extract_here
from cogni_adapters.extraction.draft import Source
from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.confluence import ConfluenceConnectorAdapter
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import ExtractedDocument, ExtractionLimits, Skipped
from cogni_domain.knowledge.source import ChangeKind, SourceDocument
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import NotFoundError, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.connector import ConnectorContract

SITE = "acme.atlassian.example"
STAFF = {"kind": "group", "id": "g-staff"}
SEARCH = "/wiki/rest/api/content/search"


class HtmlHere(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        return extract_here(Source(name, data, ExtractionLimits()))


class Confluence:
    """A site in dictionaries; `instead` answers a request in its place where it returns something."""

    def __init__(self) -> None:
        self.pages: dict[str, dict[str, Any]] = {}
        self.spaces: dict[str, list[dict[str, str]]] = {"1": [STAFF]}
        self.space: dict[str, str] = {}
        self.restricted: dict[str, list[dict[str, str]]] = {}
        self.instead: Callable[[httpx2.Request], httpx2.Response | None] = lambda request: None
        self.most_shown = 200
        self.asked: list[str] = []

    def put(self, title: str, body: str, *, space: str = "1", parent: str | None = None) -> str:
        known = next((p for p in self.pages.values() if p["title"] == title), None)
        page = known or {"id": str(len(self.pages) + 1_000), "version": 0, "status": "current"}
        page |= {"title": title, "body": body, "space": space, "parent": parent}
        page["version"] += 1
        self.pages[page["id"]] = page
        return str(page["id"])

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request.url.path)
        return self.instead(request) or self._answer(request)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path, asked = request.url.path, request.url.params
        if path == SEARCH:
            assert asked["cql"] == "type = page order by created asc"
            return self._part(asked.get("cursor"), int(asked["limit"]))
        if path.startswith("/wiki/api/v2/spaces/"):
            return says(self._permissions(path.split("/")[5], int(asked.get("cursor", "0"))))
        name = path.split("/")[5]
        if path.endswith("/restriction/byOperation/read"):
            return says({"restrictions": self._people(name, int(asked["start"]), 100)})
        page = self.pages.get(name)
        return says(self._shown(page)) if page else httpx2.Response(404)

    def _part(self, cursor: str | None, limit: int) -> httpx2.Response:
        after = [p for name, p in sorted(self.pages.items()) if cursor is None or name > cursor]
        rows = after[:limit]
        links = {"base": "https://evil.example"}
        if len(after) > limit:
            links["next"] = f"/rest/api/content/search?{urlencode({'cursor': rows[-1]['id']})}"
        shown = [self._shown(page) for page in rows]
        return says({"results": shown, "size": len(rows), "limit": limit, "_links": links})

    def _permissions(self, space: str, start: int) -> dict[str, Any]:
        every = [
            {
                "id": str(n),
                "principal": {"type": each["kind"], "id": each["id"]},
                "operation": {"key": each.get("may", "read"), "targetType": "space"},
            }
            for n, each in enumerate(self.spaces[space])
        ]
        more = {"next": f"/wiki/api/v2/x?cursor={start + 2}"} if len(every) > start + 2 else {}
        return {"results": every[start : start + 2], "_links": more}

    def _shown(self, page: dict[str, Any]) -> dict[str, Any]:
        above = []
        parent = page["parent"]
        while parent is not None:
            above.append({"id": parent, "restrictions": self._read(parent)})
            parent = self.pages[parent]["parent"]
        return {
            "id": page["id"],
            "type": "page",
            "status": page["status"],
            "title": page["title"],
            "space": {"id": int(page["space"]), "key": f"S{page['space']}", **self.space},
            "version": {"number": page["version"], "when": "2026-03-01T12:00:00.000+02:00"},
            "restrictions": self._read(page["id"]),
            "ancestors": above[::-1],
            "body": {"storage": {"value": page["body"], "representation": "storage"}},
            "_links": {"webui": f"/spaces/S{page['space']}/pages/{page['id']}"},
        }

    def _read(self, name: str) -> dict[str, Any]:
        return {"read": {"restrictions": self._people(name, 0, self.most_shown)}}

    def _people(self, name: str, start: int, limit: int) -> dict[str, Any]:
        found = {}
        for kind, key in (("user", "accountId"), ("group", "id")):
            every = [p for p in self.restricted.get(name, []) if p["kind"] == kind]
            rows = [{key: p["id"], "name": "Members"} for p in every[start : start + limit]]
            found[kind] = {"results": rows, "start": start, "limit": limit, "size": len(rows)}
        return found

    def connector(self, page_size: int = 10) -> ConfluenceConnectorAdapter:
        async def at_once(seconds: float) -> None:
            pass

        client = RestClient(
            f"https://{SITE}", pace_s=0, transport=httpx2.MockTransport(self), sleep=at_once
        )
        return ConfluenceConnectorAdapter(
            SITE, client, HtmlHere(), page_size=page_size, pause_s=0.01
        )


def says(value: Any) -> httpx2.Response:
    return httpx2.Response(200, json=value)


def group(name: str) -> dict[str, str]:
    return {"kind": "group", "id": name}


def user(name: str) -> dict[str, str]:
    return {"kind": "user", "id": name}


def g(name: str) -> str:
    return f"g:{SITE}/group/{name}"


def u(name: str) -> str:
    return f"g:{SITE}/account/{name}"


@pytest.fixture
def site() -> Confluence:
    return Confluence()


class TestConfluenceConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def a_site_of_its_own(self, site: Confluence) -> None:
        self.site = site

    def make_connector(self, texts: Mapping[str, str]) -> ConfluenceConnectorAdapter:
        for name, text in texts.items():
            self.write(name, text)
        return self.reopen()

    def reopen(self) -> ConfluenceConnectorAdapter:
        return self.site.connector()

    def write(self, name: str, text: str) -> None:
        self.site.put(name, f"<p>{text}</p>")

    def remove(self, name: str) -> None:
        gone = next(i for i, page in self.site.pages.items() if page["title"] == name)
        self.site.pages[gone]["status"] = "archived"


async def everything(connector: ConfluenceConnectorAdapter) -> dict[str, SourceDocument]:
    found: dict[str, SourceDocument] = {}
    cursor: str | None = None
    while True:
        page = ok(await connector.enumerate(cursor))
        found |= {document.name: document for document in page.documents}
        if (cursor := page.next_cursor) is None:
            return found


async def rule_of(site: Confluence, title: str) -> AccessRule | Unmappable:
    return (await everything(site.connector()))[title].rule


async def test_a_reader_passes_the_space_the_page_and_every_page_above_it(
    site: Confluence,
) -> None:
    top = site.put("HR", "")
    middle = site.put("Pay", "", parent=top)
    leaf = site.put("Bands", "", parent=middle)
    site.restricted = {top: [group("g-hr"), user("boss")], leaf: [user("ana")]}

    assert await rule_of(site, "Pay") == (
        AccessRule.any_of(g("g-staff")).restricted_to(g("g-hr"), u("boss")).simplified()
    )
    assert await rule_of(site, "Bands") == (
        AccessRule.any_of(g("g-staff"))
        .restricted_to(g("g-hr"), u("boss"))
        .restricted_to(u("ana"))
        .simplified()
    )


async def test_no_restriction_is_not_a_restriction_to_nobody(site: Confluence) -> None:
    site.put("Open", "")
    site.put("Closed", "", space="2")
    site.spaces["2"] = []

    assert await rule_of(site, "Open") == AccessRule.any_of(g("g-staff"))
    assert await rule_of(site, "Closed") == AccessRule.any_of()


async def test_only_the_permission_to_read_lets_read(site: Confluence) -> None:
    site.put("Open", "")
    site.spaces["1"] = [STAFF, *({**user("bot"), "may": m} for m in ("create", "delete"))]

    assert await rule_of(site, "Open") == AccessRule.any_of(g("g-staff"))


async def test_every_part_of_a_long_list_of_readers_counts(site: Confluence) -> None:
    name = site.put("Open", "")
    site.spaces["1"] = [user(f"s{n}") for n in range(5)]
    site.restricted[name] = [user(f"p{n}") for n in range(250)]
    site.most_shown = 100

    assert await rule_of(site, "Open") == (
        AccessRule.any_of(*(u(f"s{n}") for n in range(5)))
        .restricted_to(*(u(f"p{n}") for n in range(250)))
        .simplified()
    )


async def test_readers_of_an_unknown_kind_are_never_left_out_in_silence(site: Confluence) -> None:
    site.put("Open", "")
    site.spaces["1"].append({"kind": "role", "id": "guests"})

    assert isinstance(await rule_of(site, "Open"), Unmappable)


@pytest.mark.parametrize("status", [403, 404])
async def test_a_layer_above_that_cannot_be_read_maps_nothing(
    site: Confluence, status: int
) -> None:
    top = site.put("HR", "")
    site.put("Bands", "", parent=top)
    shown = site._shown

    def without_layers(page: dict[str, Any]) -> dict[str, Any]:
        found = shown(page)
        for above in found["ancestors"]:
            del above["restrictions"]
        return found

    site._shown = without_layers  # type: ignore[method-assign]
    site.instead = lambda r: httpx2.Response(status) if "byOperation" in r.url.path else None

    found = await everything(site.connector())

    assert isinstance(found["Bands"].rule, Unmappable)
    assert isinstance(found["HR"].rule, AccessRule)


async def test_a_page_that_moves_is_told_with_the_rule_of_where_it_is(site: Confluence) -> None:
    site.put("Plan", "Text.")
    site.spaces["2"] = [group("g-board")]
    changes = site.connector().changes()
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0.1)
    site.pages["1000"]["space"] = "2"

    event = await waiting

    assert event.kind is ChangeKind.MOVED
    assert event.document is not None
    assert event.document.rule == AccessRule.any_of(g("g-board"))


async def test_pages_that_move_during_the_walk_have_the_rule_of_where_they_are(
    site: Confluence,
) -> None:
    for n in range(6):
        site.put(f"P{n}", "")
    site.spaces["2"] = [group("g-board")]
    connector = site.connector(page_size=2)
    first = ok(await connector.enumerate(None))
    for page in site.pages.values():
        page["space"] = "2"

    second = ok(await connector.enumerate(first.next_cursor))

    assert {d.rule for d in second.documents} == {AccessRule.any_of(g("g-board"))}


async def test_a_page_that_is_listed_twice_is_one_document(site: Confluence) -> None:
    site.put("Twice", "")
    page = site._shown(site.pages["1000"])
    twice = {"results": [page, page], "size": 2, "_links": {}}
    site.instead = lambda r: says(twice) if r.url.path == SEARCH else None

    assert len(ok(await site.connector().enumerate(None)).documents) == 1


@pytest.mark.parametrize("status", [400, 410])
async def test_a_place_that_was_forgotten_is_begun_again_once(
    site: Confluence, status: int
) -> None:
    for n in range(5):
        site.put(f"P{n}", "")
    connector = site.connector(page_size=2)
    cursor = ok(await connector.enumerate(None)).next_cursor
    site.instead = lambda r: httpx2.Response(status) if "cursor" in r.url.params else None

    again = ok(await connector.enumerate(cursor))
    twice = err(await connector.enumerate(again.next_cursor), UpstreamError)

    assert [d.name for d in again.documents] == ["P0", "P1"]
    assert not twice.retryable


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(401),
        httpx2.Response(403),
        httpx2.Response(429),
        httpx2.Response(500),
        httpx2.Response(200, text='{"results": [{"id": "1"'),
        httpx2.Response(200, text="<html>Sign in</html>"),
        says({}),
        says([]),
        says({"results": None, "size": 0, "_links": {}}),
        says({"results": [], "size": 3, "_links": {}}),
        says({"results": [], "size": 0}),
        says({"results": [], "size": 0, "_links": {"next": "/rest/api/content/search"}}),
        says({"message": "Something went wrong", "statusCode": 200}),
    ],
)
async def test_a_list_that_cannot_be_had_is_never_an_empty_one(
    site: Confluence, answer: httpx2.Response
) -> None:
    site.instead = lambda request: answer

    err(await site.connector().enumerate(None), UpstreamError)


async def test_a_link_to_another_host_is_never_followed(site: Confluence) -> None:
    hosts: set[str] = set()
    for n in range(5):
        site.put(f"P{n}", "")

    def watch(request: httpx2.Request) -> None:
        hosts.add(request.url.host)

    site.instead = watch

    assert len(await everything(site.connector(page_size=2))) == 5
    assert hosts == {SITE}


async def test_a_page_whose_readers_changed_since_is_not_given_out(site: Confluence) -> None:
    name = site.put("Plan", "Secret by now.")
    connector = site.connector()
    document = (await everything(connector))["Plan"]
    site.restricted[name] = [user("ana")]

    err(await connector.extract(document), NotFoundError)


@pytest.mark.parametrize("status", ["archived", "trashed", "draft"])
async def test_a_page_that_is_put_away_is_gone(site: Confluence, status: str) -> None:
    name = site.put("Plan", "Old.")
    connector = site.connector()
    document = (await everything(connector))["Plan"]
    site.pages[name]["status"] = status

    assert await everything(connector) == {}
    err(await connector.extract(document), NotFoundError)


async def test_pages_of_a_space_that_is_put_away_are_gone(site: Confluence) -> None:
    site.put("Plan", "Old.")
    site.space = {"status": "archived"}

    assert await everything(site.connector()) == {}


async def test_a_code_block_is_kept_whole(site: Confluence) -> None:
    site.put(
        "Valves",
        '<p>Paste this:</p><ac:structured-macro ac:name="code"><ac:parameter ac:name="language">'
        'java</ac:parameter><ac:plain-text-body><![CDATA[if (a > b) { open("<valve>") }]]>'
        "</ac:plain-text-body></ac:structured-macro><p>Done.</p>",
    )
    connector = site.connector()
    document = (await everything(connector))["Valves"]

    found = ok(await connector.extract(document))

    assert isinstance(found, ExtractedDocument)
    assert found.title == "Valves"
    assert [block.text for block in found.blocks] == [
        "Paste this:",
        'if (a > b) { open("<valve>") }',
        "Done.",
    ]
