"""The Redmine connector on a double that speaks its interface."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import httpx2
import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.ticketing.redmine import RedmineConnectorAdapter
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import ExtractedDocument
from cogni_domain.knowledge.source import SourceDocument
from cogni_kernel import NotFoundError, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.connector import ConnectorContract

SITE = "tickets.acme.example"
MANAGER, REPORTER, OUTSIDER = 3, 5, 1


def g(name: int) -> str:
    return f"g:{SITE}/group/{name}"


def u(name: int) -> str:
    return f"g:{SITE}/account/{name}"


class Redmine:
    """A Redmine in dictionaries; `instead` answers a request in its place where it returns something."""

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.public = {1: False, 2: True}
        self.members: dict[int, list[dict[str, Any]]] = {
            1: [
                {"group": {"id": 71}, "roles": [{"id": MANAGER}]},
                {"user": {"id": 4}, "roles": [{"id": MANAGER, "inherited": True}]},
                {"user": {"id": 8}, "roles": [{"id": REPORTER}]},
            ],
            2: [],
        }
        self.roles = {
            MANAGER: {
                "issues_visibility": "all",
                "permissions": ["view_issues", "view_private_notes"],
            },
            REPORTER: {"issues_visibility": "default", "permissions": ["view_issues"]},
            OUTSIDER: {"issues_visibility": "default", "permissions": ["view_issues"]},
        }
        self.instead: Callable[[httpx2.Request], httpx2.Response | None] = lambda request: None
        self.is_admin = True
        self._ids = count(1)

    def put(self, subject: str, text: str = "", **more: Any) -> int:
        known = next((i for i in self.issues.values() if i["subject"] == subject), None)
        issue = known or {
            "id": next(self._ids),
            "project": {"id": 1},
            "is_private": False,
            "author": {"id": 9},
            "updated_on": "2026-03-01T12:00:00Z",
            "journals": [],
        }
        issue |= {"subject": subject, "description": text, **more}
        self.issues[issue["id"]] = issue
        return int(issue["id"])

    def note(self, issue: int, text: str, *, is_private: bool = False, author: int = 9) -> int:
        name = issue * 100 + len(self.issues[issue]["journals"])
        note = {
            "id": name,
            "user": {"id": author},
            "notes": text,
            "private_notes": is_private,
            "created_on": "2026-03-01T12:00:00Z",
        }
        self.issues[issue]["journals"].append(note)
        return name

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        return self.instead(request) or self._answer(request)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        asked = request.url.params
        kind, _, rest = request.url.path.removeprefix("/").removesuffix(".json").partition("/")
        if kind == "issues" and not rest:
            assert (asked["status_id"], asked["sort"]) == ("*", "id")
            least = int(asked["issue_id"].removeprefix(">="))
            rows = [issue for name, issue in sorted(self.issues.items()) if name >= least]
            return says({"issues": rows[: int(asked["limit"])], "total_count": len(rows)})
        if kind == "issues":
            issue = self.issues.get(int(rest))
            return says({"issue": issue}) if issue else httpx2.Response(404)
        if kind == "users":
            return says({"user": {"id": 1, "admin": self.is_admin}})
        if kind == "roles":
            return says({"role": self.roles[int(rest)]})
        project, _, what = rest.partition("/")
        if not what:
            return says({"project": {"id": int(project), "is_public": self.public[int(project)]}})
        start, every = int(asked["offset"]), self.members[int(project)]
        return says({"memberships": every[start : start + 2], "total_count": len(every)})

    def connector(self, *, private_notes: bool = False) -> RedmineConnectorAdapter:
        async def at_once(seconds: float) -> None:
            pass

        client = RestClient(
            f"https://{SITE}", pace_s=0, transport=httpx2.MockTransport(self), sleep=at_once
        )
        return RedmineConnectorAdapter(
            SITE, client, private_notes=private_notes, page_size=10, pause_s=0.01
        )


def says(value: Any) -> httpx2.Response:
    return httpx2.Response(200, json=value)


@pytest.fixture
def site() -> Redmine:
    return Redmine()


class TestRedmineConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def a_site_of_its_own(self, site: Redmine) -> None:
        self.site = site

    def make_connector(self, texts: Mapping[str, str]) -> RedmineConnectorAdapter:
        for name, text in texts.items():
            self.write(name, text)
        return self.reopen()

    def reopen(self) -> RedmineConnectorAdapter:
        return self.site.connector()

    def write(self, name: str, text: str) -> None:
        self.site.put(name, text)

    def remove(self, name: str) -> None:
        gone = next(i for i, issue in self.site.issues.items() if issue["subject"] == name)
        del self.site.issues[gone]


async def everything(connector: RedmineConnectorAdapter) -> dict[str, SourceDocument]:
    found: dict[str, SourceDocument] = {}
    cursor: str | None = None
    while True:
        page = ok(await connector.enumerate(cursor))
        found |= {document.source_id: document for document in page.documents}
        if (cursor := page.next_cursor) is None:
            return found


async def test_issues_are_read_by_role_and_private_ones_by_whom_they_concern(
    site: Redmine,
) -> None:
    plain = site.put("Plain")
    secret = site.put("Secret", is_private=True, assigned_to={"id": 8})
    other = site.put("Other's secret", is_private=True)

    found = await everything(site.connector())

    assert found[str(plain)].rule == AccessRule.any_of(g(71), u(8))
    assert found[str(secret)].rule == AccessRule.any_of(g(71), u(8))
    assert found[str(other)].rule == AccessRule.any_of(g(71))


async def test_a_public_project_is_read_by_every_account_but_by_members_who_see_less(
    site: Redmine,
) -> None:
    name = site.put("Open", project={"id": 2})
    site.roles[REPORTER]["issues_visibility"] = "own"
    site.members[2] = [{"user": {"id": 8}, "roles": [{"id": REPORTER}]}]

    found = await everything(site.connector())

    everybody = f"g:{SITE}/group/signed-in"
    assert found[str(name)].rule == AccessRule.any_of(everybody, u(9)).except_for(u(8))


async def test_a_note_is_a_document_of_its_own_and_a_private_one_is_left_out(
    site: Redmine,
) -> None:
    issue = site.put("Plain")
    public = site.note(issue, "For all.")
    private = site.note(issue, "Between us.", is_private=True)
    site.note(issue, "")

    usual = await everything(site.connector())
    with_them = await everything(site.connector(private_notes=True))

    assert usual.keys() == {f"{issue}", f"{issue}/note/{public}"}
    assert with_them[f"{issue}/note/{public}"].rule == AccessRule.any_of(g(71), u(8))
    assert with_them[f"{issue}/note/{private}"].rule == (
        AccessRule.any_of(g(71), u(8)).restricted_to(g(71), u(9)).simplified()
    )


async def test_the_text_of_an_issue_holds_none_of_its_notes(site: Redmine) -> None:
    issue = site.put("Plain", "First.\r\n\r\nSecond.")
    note = site.note(issue, "The note.")
    connector = site.connector()
    found = await everything(connector)

    whole = ok(await connector.extract(found[str(issue)]))
    part = ok(await connector.extract(found[f"{issue}/note/{note}"]))

    assert isinstance(whole, ExtractedDocument)
    assert isinstance(part, ExtractedDocument)
    assert [b.text for b in whole.blocks] == ["#1 Plain", "First.", "Second."]
    assert [b.text for b in part.blocks] == ["The note."]


async def test_what_changed_its_readers_since_is_not_given_out(site: Redmine) -> None:
    issue = site.put("Plain")
    note = site.note(issue, "Private by now.")
    connector = site.connector()
    found = await everything(connector)
    site.issues[issue]["journals"][0]["private_notes"] = True
    site.issues[issue]["is_private"] = True

    err(await connector.extract(found[str(issue)]), NotFoundError)
    err(await connector.extract(found[f"{issue}/note/{note}"]), NotFoundError)


async def test_a_project_whose_members_we_may_not_see_maps_nothing(site: Redmine) -> None:
    issue = site.put("Plain")
    note = site.note(issue, "A note.")
    site.instead = lambda r: httpx2.Response(403) if "memberships" in r.url.path else None

    found = await everything(site.connector())

    assert isinstance(found[str(issue)].rule, Unmappable)
    assert isinstance(found[f"{issue}/note/{note}"].rule, Unmappable)


async def test_an_account_that_sees_a_part_lists_nothing(site: Redmine) -> None:
    site.put("Plain")
    site.is_admin = False

    assert not err(await site.connector().enumerate(None), UpstreamError).retryable


async def test_an_issue_that_goes_while_it_is_listed_is_left_out(site: Redmine) -> None:
    site.put("Stays")
    gone = site.put("Goes")
    path = f"/issues/{gone}.json"
    site.instead = lambda r: httpx2.Response(404) if r.url.path == path else None

    assert {d.name for d in (await everything(site.connector())).values()} == {"Stays"}


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(401),
        httpx2.Response(403),
        httpx2.Response(429),
        httpx2.Response(500),
        httpx2.Response(200, text='{"issues": ['),
        says({}),
        says({"issues": []}),
        says({"issues": [], "total_count": 3}),
        says({"issues": [{"id": 2}, {"id": 1}], "total_count": 2}),
        says({"issues": [{"id": 2}, {"id": 2}], "total_count": 2}),
        says({"issues": [{"id": 0}], "total_count": 1}),
    ],
)
async def test_a_list_that_cannot_be_had_is_never_an_empty_one(
    site: Redmine, answer: httpx2.Response
) -> None:
    site.instead = lambda r: answer if r.url.path == "/issues.json" else None

    err(await site.connector().enumerate(None), UpstreamError)
