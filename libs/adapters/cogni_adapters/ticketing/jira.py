"""Jira Cloud as a source: issues, and each comment as a document of its own under its own rule."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import quote

from cogni_adapters.rest.client import RestClient
from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_adapters.rest.fields import flag, items, mapping, moment, number, text
from cogni_adapters.rest.follow import LONG_PAUSE_S
from cogni_adapters.rest.listed_source import ListedSource
from cogni_adapters.rest.paging import ListedPart, Part, every, part_at
from cogni_adapters.ticketing.adf import blocks_of
from cogni_adapters.ticketing.jira_permissions import (
    BROWSE,
    UNNAMED,
    UNREAD,
    Concerned,
    JiraTokens,
    both,
    roles_of,
)
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import (
    Block,
    BlockKind,
    ExtractedDocument,
    Reason,
    Skipped,
)
from cogni_domain.knowledge.source import SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_kernel import HumanText, NotFoundError, NotPermittedError

PAGE_SIZE = 100
ROWS = 100
PERMISSIONS_FOR_S = 30.0

EVERY_ISSUE = 'created >= "1970-01-01" order by created asc'
"""No edit and no move changes an issue's place in this order."""

FIELDS = "summary,description,updated,project,security,reporter,assignee,comment"
MEDIA_TYPE = "application/vnd.atlassian.adf+json"
COMMENT = "/comment/"

GONE = NotFoundError(HumanText("It is gone, or has other readers by now."))
EMPTY = Skipped(Reason.EMPTY, "The comment has no text.")

Rule = AccessRule | Unmappable


class JiraConnectorAdapter(ListedSource, ConnectorPort):
    """Issues of one site and their comments.

    An issue keeps its id when it moves to another project, and is mapped anew there. Comments that a service
    desk keeps internal are left out.

    Args:
        authority: What the site's accounts and groups are qualified by, `acme.atlassian.example`.
        client: At the site's address; signed in as an account that sees every issue and its permissions.
        internal_for: The id of the project role that may read internal comments; None leaves them out.
        page_size: Issues a part.
        pause_s: Between two looks at what changed.

    Source:
        COGNI.BUILD spec, package adapters, "TicketingConnectorAdapter".
    """

    def __init__(
        self,
        authority: str,
        client: RestClient,
        *,
        internal_for: str | None = None,
        page_size: int = PAGE_SIZE,
        pause_s: float = LONG_PAUSE_S,
    ) -> None:
        self._authority, self._client = authority, client
        self._internal_for, self._page_size, self._pause_s = internal_for, page_size, pause_s
        self._tokens = JiraTokens(authority)
        self._known: dict[str, tuple[float, object]] = {}

    async def _page(self, cursor: str | None) -> SourcePage:
        return await part_at(cursor, self._part)

    async def _part(self, place: str) -> ListedPart:
        question: dict[str, str | int] = {"jql": EVERY_ISSUE, "fields": FIELDS}
        question |= {"maxResults": self._page_size} | ({"nextPageToken": place} if place else {})
        answer = await self._client.get("/rest/api/3/search/jql", question)
        issues = {text(issue, "id"): issue for issue in items(answer, "issues")}
        is_last = flag(answer, "isLast")
        documents = [each for issue in issues.values() for each in await self._family(issue)]
        following = None if is_last else text(answer, "nextPageToken")
        if following is not None and following == place:
            raise unexpected("a list that does not go on")
        return documents, following

    async def _family(self, issue: object) -> list[SourceDocument]:
        """Return an issue and its comments as documents."""
        rule = await self._rule(issue)
        shown = mapping(issue, "fields", "comment")
        comments = items(shown, "comments")
        if len(comments) != number(shown, "total"):
            path = f"/rest/api/3/issue/{quote(text(issue, 'id'), safe='')}/comment"
            comments = await every(lambda start: self._rows(path, "comments", start))
        found = [self._issue(issue, rule)]
        for comment in comments:
            own = await self._comment_rule(issue, comment, rule)
            if own is not None:
                found.append(self._comment(issue, comment, own))
        return found

    def _issue(self, issue: object, rule: Rule) -> SourceDocument:
        return SourceDocument(
            source_id=text(issue, "id"),
            name=text(issue, "fields", "summary"),
            rule=rule,
            revision=text(issue, "fields", "updated"),
            updated_at=moment(issue, "fields", "updated"),
            url=f"{self._client.base_url}/browse/{text(issue, 'key')}",
        )

    def _comment(self, issue: object, comment: object, rule: Rule) -> SourceDocument:
        name = text(comment, "id")
        return SourceDocument(
            source_id=f"{text(issue, 'id')}{COMMENT}{name}",
            name=f"{text(issue, 'fields', 'summary')}, comment {name}",
            rule=rule,
            revision=text(comment, "updated"),
            updated_at=moment(comment, "updated"),
            url=f"{self._client.base_url}/browse/{text(issue, 'key')}?focusedCommentId={name}",
        )

    async def _content(self, document: SourceDocument) -> ExtractedDocument | Skipped:
        """Return a text, if it still has the readers that it was listed with."""
        name, _, comment_name = document.source_id.partition(COMMENT)
        path = f"/rest/api/3/issue/{quote(name, safe='')}"
        issue = await self._client.get(path, {"fields": FIELDS})
        rule: Rule | None = await self._rule(issue)
        title = f"{text(issue, 'key')} {text(issue, 'fields', 'summary')}"
        if not comment_name:
            description = mapping(issue, "fields").get("description")
            heading = Block(BlockKind.HEADING, title, (title,))
            blocks = (heading, *blocks_of(description, (title,)))
        else:
            comment = await self._client.get(f"{path}/comment/{quote(comment_name, safe='')}")
            rule = None if rule is None else await self._comment_rule(issue, comment, rule)
            blocks = blocks_of(mapping(comment).get("body"), (title,))
        if rule != document.rule:
            raise SourceFailedError(GONE)
        return ExtractedDocument(title, blocks, MEDIA_TYPE) if blocks else EMPTY

    async def _rule(self, issue: object) -> Rule:
        """Return who may read an issue: who browses its project and passes its security level."""
        fields = mapping(issue, "fields")
        project = text(fields, "project", "id")
        if "security" not in fields:
            raise unexpected("an issue that does not say whether it has a security level")
        try:
            concerned = await self._concerned(fields, project)
            rule = await self._layer(await self._browsers(project), concerned, project)
            if fields["security"] is None:
                return rule
            level = await self._level(text(fields, "security", "id"))
            return both(rule, await self._layer(level, concerned, project))
        except SourceFailedError as failed:
            if isinstance(failed.error, NotPermittedError | NotFoundError):
                return UNREAD
            raise

    async def _comment_rule(self, issue: object, comment: object, rule: Rule) -> Rule | None:
        """Return who may read a comment; None where it is left out."""
        project = text(issue, "fields", "project", "id")
        try:
            if mapping(comment).get("jsdPublic") is False:
                if self._internal_for is None:
                    return None
                rule = both(rule, await self._role_rule(project, self._internal_for))
            shown_to = mapping(comment).get("visibility")
            if shown_to is None:
                return rule
            name = mapping(shown_to).get("identifier")
            if not name:
                return UNNAMED
            if text(shown_to, "type") == "group":
                return both(rule, AccessRule.any_of(self._tokens.group(str(name))))
            return both(rule, await self._role_rule(project, str(name)))
        except SourceFailedError as failed:
            if isinstance(failed.error, NotPermittedError | NotFoundError):
                return UNREAD
            raise

    async def _role_rule(self, project: str, role: str) -> AccessRule:
        return AccessRule.any_of(*await self._role(project, role))

    async def _layer(
        self, holders: Sequence[object], concerned: Concerned, project: str
    ) -> AccessRule | Unmappable:
        roles: Mapping[str, frozenset[str]] = {
            role: await self._role(project, role) for role in roles_of(holders)
        }
        return self._tokens.layer(holders, concerned, roles)

    async def _concerned(self, fields: Mapping[str, object], project: str) -> Concerned:
        path = f"/rest/api/3/project/{quote(project, safe='')}"
        lead = mapping(await self._lately(path, lambda: self._client.get(path))).get("lead")
        return Concerned(*map(_account, (fields.get("reporter"), fields.get("assignee"), lead)))

    async def _browsers(self, project: str) -> Sequence[object]:
        path = f"/rest/api/3/project/{quote(project, safe='')}/permissionscheme"
        scheme = await self._lately(path, lambda: self._client.get(path, {"expand": "all"}))
        entries = items(scheme, "permissions")
        return [mapping(e, "holder") for e in entries if text(e, "permission") == BROWSE]

    async def _role(self, project: str, role: str) -> frozenset[str]:
        path = f"/rest/api/3/project/{quote(project, safe='')}/role/{quote(role, safe='')}"
        return self._tokens.of_role(await self._lately(path, lambda: self._client.get(path)))

    async def _level(self, level: str) -> Sequence[object]:
        path = "/rest/api/3/issuesecurityschemes/level/member"

        async def ask() -> object:
            return await every(lambda start: self._rows(path, "values", start, levelId=level))

        return [mapping(row, "holder") for row in items(await self._lately(f"{path} {level}", ask))]

    async def _rows(self, path: str, name: str, start: int, **question: str) -> Part:
        asked: dict[str, str | int] = {**question, "startAt": start, "maxResults": ROWS}
        return items(await self._client.get(path, asked), name), False

    async def _lately(self, key: str, ask: Callable[[], Awaitable[object]]) -> object:
        """Return what a question about permissions brought, half a minute ago at most."""
        known = self._known.get(key)
        if known is None or time.monotonic() - known[0] > PERMISSIONS_FOR_S:
            known = self._known[key] = time.monotonic(), await ask()
        return known[1]


def _account(person: object) -> str | None:
    return None if person is None else text(person, "accountId")
