"""The Jira connector on a double that speaks the cloud's interface."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import httpx2
import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.ticketing.jira import JiraConnectorAdapter
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import ExtractedDocument
from cogni_domain.knowledge.source import SourceDocument
from cogni_kernel import NotFoundError, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.connector import ConnectorContract

SITE = "acme.atlassian.example"
SEARCH = "/rest/api/3/search/jql"
STAFF, AGENTS = "10001", "10002"


def holder(kind: str, value: str | None = None) -> dict[str, Any]:
    return {"type": kind, "parameter": value, "value": value} if value else {"type": kind}


def g(name: str) -> str:
    return f"g:{SITE}/group/{name}"


def u(name: str) -> str:
    return f"g:{SITE}/account/{name}"


class Jira:
    """A site in dictionaries; `instead` answers a request in its place where it returns something."""

    def __init__(self) -> None:
        self.issues: dict[str, dict[str, Any]] = {}
        self.browsers = {"1": [holder("projectRole", STAFF)], "2": [holder("group", "g-board")]}
        self.roles: dict[str, list[dict[str, Any]]] = {
            STAFF: [group_actor("g-staff"), user_actor("ana")],
            AGENTS: [group_actor("g-agents")],
        }
        self.levels: dict[str, list[dict[str, Any]]] = {}
        self.instead: Callable[[httpx2.Request], httpx2.Response | None] = lambda request: None
        self.shown_comments = 20
        self._ticks, self._ids = count(), count(10_000)

    def put(self, summary: str, text: str = "", **fields: Any) -> str:
        known = next((i for i in self.issues.values() if i["summary"] == summary), None)
        issue = known or {
            "id": str(next(self._ids)),
            "project": "1",
            "security": None,
            "reporter": "rep",
            "assignee": None,
            "comments": [],
        }
        issue |= {"summary": summary, "text": text, "updated": self._now(), **fields}
        self.issues[issue["id"]] = issue
        return str(issue["id"])

    def comment(self, issue: str, text: str, **more: Any) -> str:
        comments = self.issues[issue]["comments"]
        name = f"{issue}{len(comments):03}"
        comments.append({"id": name, "updated": self._now(), "body": doc(text), **more})
        return name

    def _now(self) -> str:
        return f"2026-03-01T12:00:{next(self._ticks) // 1000:02}.{next(self._ticks) % 1000:03}+0200"

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        return self.instead(request) or self._answer(request)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path, asked = request.url.path, request.url.params
        if path == SEARCH:
            assert asked["jql"] == 'created >= "1970-01-01" order by created asc'
            return self._part(asked.get("nextPageToken"), int(asked["maxResults"]))
        if path == "/rest/api/3/issuesecurityschemes/level/member":
            rows = [{"holder": each} for each in self.levels[asked["levelId"]]]
            start = int(asked["startAt"])
            return says({"values": rows[start : start + 2], "isLast": False})
        kind, name, *rest = path.split("/")[4:]
        if kind == "project":
            return self._project(name, *rest)
        return self._of_issue(self.issues.get(name), int(asked.get("startAt", "0")), *rest)

    def _of_issue(self, issue: Any, start: int, what: str = "", name: str = "") -> httpx2.Response:
        if issue is None:
            return httpx2.Response(404)
        if not what:
            return says(self._shown(issue))
        if not name:
            rows = issue["comments"][start : start + 50]
            return says({"comments": rows, "total": len(issue["comments"])})
        found = [c for c in issue["comments"] if c["id"] == name]
        return says(found[0]) if found else httpx2.Response(404)

    def _project(self, name: str, what: str = "", role: str = "") -> httpx2.Response:
        if what == "permissionscheme":
            every = [
                ("ADMINISTER", holder("anyone")),
                *(("BROWSE_PROJECTS", h) for h in self.browsers[name]),
            ]
            return says({"permissions": [{"permission": p, "holder": h} for p, h in every]})
        if what == "role":
            return says({"actors": self.roles[role]})
        return says({"id": name, "lead": {"accountId": f"lead{name}"}})

    def _part(self, after: str | None, limit: int) -> httpx2.Response:
        rows = [i for name, i in sorted(self.issues.items()) if after is None or name > after]
        shown = [self._shown(issue) for issue in rows[:limit]]
        more = {"nextPageToken": rows[limit - 1]["id"]} if len(rows) > limit else {}
        return says({"issues": shown, "isLast": not more, **more})

    def _shown(self, issue: dict[str, Any]) -> dict[str, Any]:
        people = {
            name: issue[name] and {"accountId": issue[name]} for name in ("reporter", "assignee")
        }
        comments = issue["comments"][: self.shown_comments]
        return {
            "id": issue["id"],
            "key": f"P{issue['project']}-{issue['id']}",
            "fields": {
                "summary": issue["summary"],
                "description": doc(issue["text"]),
                "updated": issue["updated"],
                "project": {"id": issue["project"]},
                "security": issue["security"] and {"id": issue["security"]},
                "comment": {"comments": comments, "total": len(issue["comments"])},
                **people,
            },
        }

    def connector(self, internal_for: str | None = None) -> JiraConnectorAdapter:
        async def at_once(seconds: float) -> None:
            pass

        client = RestClient(
            f"https://{SITE}", pace_s=0, transport=httpx2.MockTransport(self), sleep=at_once
        )
        return JiraConnectorAdapter(
            SITE, client, internal_for=internal_for, page_size=10, pause_s=0.01
        )


def doc(text: str) -> dict[str, Any]:
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": text}]}
    return {"type": "doc", "version": 1, "content": [paragraph]}


def group_actor(name: str) -> dict[str, Any]:
    actor = {"name": "Site Members", "groupId": name}
    return {"type": "atlassian-group-role-actor", "actorGroup": actor}


def user_actor(name: str) -> dict[str, Any]:
    return {"type": "atlassian-user-role-actor", "actorUser": {"accountId": name}}


def says(value: Any) -> httpx2.Response:
    return httpx2.Response(200, json=value)


@pytest.fixture
def site() -> Jira:
    return Jira()


class TestJiraConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def a_site_of_its_own(self, site: Jira) -> None:
        self.site = site

    def make_connector(self, texts: Mapping[str, str]) -> JiraConnectorAdapter:
        for name, text in texts.items():
            self.write(name, text)
        return self.reopen()

    def reopen(self) -> JiraConnectorAdapter:
        return self.site.connector()

    def write(self, name: str, text: str) -> None:
        self.site.put(name, text)

    def remove(self, name: str) -> None:
        gone = next(i for i, issue in self.site.issues.items() if issue["summary"] == name)
        del self.site.issues[gone]


async def everything(connector: JiraConnectorAdapter) -> dict[str, SourceDocument]:
    found: dict[str, SourceDocument] = {}
    cursor: str | None = None
    while True:
        page = ok(await connector.enumerate(cursor))
        found |= {document.source_id: document for document in page.documents}
        if (cursor := page.next_cursor) is None:
            return found


BROWSE = AccessRule.any_of(g("g-staff"), u("ana"))


async def test_a_reader_browses_the_project_and_passes_the_level(site: Jira) -> None:
    plain = site.put("Plain")
    secret = site.put("Secret", security="7")
    board = site.put("Board", project="2")
    site.levels["7"] = [holder("reporter"), holder("projectRole", AGENTS), holder("user", "bo")]

    found = await everything(site.connector())

    assert found[plain].rule == BROWSE
    assert found[board].rule == AccessRule.any_of(g("g-board"))
    assert found[secret].rule == (
        BROWSE.restricted_to(u("rep"), g("g-agents"), u("bo")).simplified()
    )


async def test_a_level_that_names_nobody_lets_nobody_read(site: Jira) -> None:
    name = site.put("Secret", security="7", assignee=None)
    site.levels["7"] = [holder("assignee")]

    rule = (await everything(site.connector()))[name].rule

    assert isinstance(rule, AccessRule)
    assert frozenset() in rule.clauses


async def test_an_issue_that_does_not_say_whether_it_has_a_level_stops_the_listing(
    site: Jira,
) -> None:
    site.put("Plain")
    shown = site._shown

    def without(issue: dict[str, Any]) -> dict[str, Any]:
        found = shown(issue)
        del found["fields"]["security"]
        return found

    site._shown = without  # type: ignore[method-assign]

    err(await site.connector().enumerate(None), UpstreamError)


@pytest.mark.parametrize("kind", ["applicationRole", "groupCustomField", "sd.customer.portal.only"])
async def test_readers_of_an_unknown_kind_are_never_left_out_in_silence(
    site: Jira, kind: str
) -> None:
    name = site.put("Plain")
    site.browsers["1"].append(holder(kind, "x"))

    assert isinstance((await everything(site.connector()))[name].rule, Unmappable)


async def test_a_group_that_is_given_by_its_name_alone_cannot_be_mapped(site: Jira) -> None:
    name = site.put("Plain")
    site.browsers["1"] = [{"type": "group", "parameter": "Site Members"}]

    assert isinstance((await everything(site.connector()))[name].rule, Unmappable)


async def test_a_comment_is_a_document_under_the_issues_rule_and_its_own(site: Jira) -> None:
    issue = site.put("Plain")
    open_ = site.comment(issue, "For all.")
    role = site.comment(
        issue, "For agents.", visibility={"type": "role", "identifier": AGENTS, "value": "Agents"}
    )
    group = site.comment(
        issue, "For HR.", visibility={"type": "group", "identifier": "g-hr", "value": "HR"}
    )
    name = site.comment(issue, "For whom?", visibility={"type": "role", "value": "Agents"})

    found = await everything(site.connector())

    def of(comment: str) -> AccessRule | Unmappable:
        return found[f"{issue}/comment/{comment}"].rule

    assert of(open_) == BROWSE
    assert of(role) == BROWSE.restricted_to(g("g-agents")).simplified()
    assert of(group) == BROWSE.restricted_to(g("g-hr")).simplified()
    assert isinstance(of(name), Unmappable)


async def test_a_comment_of_a_secret_issue_is_as_secret(site: Jira) -> None:
    issue = site.put("Secret", security="7")
    site.levels["7"] = [holder("user", "bo")]
    comment = site.comment(issue, "Psst.")

    found = await everything(site.connector())

    assert found[f"{issue}/comment/{comment}"].rule == BROWSE.restricted_to(u("bo")).simplified()


async def test_internal_comments_are_left_out_unless_a_role_is_named_for_them(site: Jira) -> None:
    issue = site.put("Plain")
    public = site.comment(issue, "To the customer.", jsdPublic=True)
    internal = site.comment(issue, "Between us.", jsdPublic=False)

    usual = await everything(site.connector())
    with_them = await everything(site.connector(internal_for=AGENTS))

    assert usual.keys() == {issue, f"{issue}/comment/{public}"}
    assert with_them[f"{issue}/comment/{internal}"].rule == (
        BROWSE.restricted_to(g("g-agents")).simplified()
    )


async def test_comments_are_read_to_the_very_last(site: Jira) -> None:
    issue = site.put("Long")
    for n in range(130):
        site.comment(issue, f"Number {n}.")

    assert len(await everything(site.connector())) == 131


async def test_the_text_of_an_issue_holds_none_of_its_comments(site: Jira) -> None:
    issue = site.put("Plain", "The description.")
    comment = site.comment(issue, "The comment.")
    connector = site.connector()
    found = await everything(connector)

    whole = ok(await connector.extract(found[issue]))
    part = ok(await connector.extract(found[f"{issue}/comment/{comment}"]))

    assert isinstance(whole, ExtractedDocument)
    assert isinstance(part, ExtractedDocument)
    assert [b.text for b in whole.blocks] == [f"P1-{issue} Plain", "The description."]
    assert [b.text for b in part.blocks] == ["The comment."]


async def test_what_changed_its_readers_since_is_not_given_out(site: Jira) -> None:
    issue = site.put("Plain", "Secret by now.")
    comment = site.comment(issue, "Internal by now.")
    connector = site.connector()
    found = await everything(connector)
    site.levels["7"] = [holder("user", "bo")]
    site.issues[issue]["security"] = "7"

    err(await connector.extract(found[issue]), NotFoundError)
    err(await connector.extract(found[f"{issue}/comment/{comment}"]), NotFoundError)

    site.issues[issue]["security"] = None
    site.issues[issue]["comments"][0]["jsdPublic"] = False
    err(await connector.extract(found[f"{issue}/comment/{comment}"]), NotFoundError)


async def test_a_project_whose_permissions_we_may_not_see_maps_nothing(site: Jira) -> None:
    name = site.put("Plain")
    site.instead = lambda r: httpx2.Response(403) if "permissionscheme" in r.url.path else None

    assert isinstance((await everything(site.connector()))[name].rule, Unmappable)


async def test_a_place_that_was_forgotten_is_begun_again_once(site: Jira) -> None:
    for n in range(25):
        site.put(f"Issue {n}")
    connector = site.connector()
    cursor = ok(await connector.enumerate(None)).next_cursor
    site.instead = lambda r: httpx2.Response(400) if "nextPageToken" in r.url.params else None

    again = ok(await connector.enumerate(cursor))

    assert len(again.documents) == 10
    err(await connector.enumerate(again.next_cursor), UpstreamError)


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
        says({"issues": [], "isLast": False}),
        says({"issues": [{"id": "1"}], "isLast": True}),
        says({"errorMessages": ["No."], "isLast": True}),
    ],
)
async def test_a_list_that_cannot_be_had_is_never_an_empty_one(
    site: Jira, answer: httpx2.Response
) -> None:
    site.instead = lambda request: answer

    err(await site.connector().enumerate(None), UpstreamError)
