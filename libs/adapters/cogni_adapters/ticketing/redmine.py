"""A Redmine as a source: issues, and each note as a document of its own under its own rule."""

import hashlib
import time
from collections.abc import Awaitable, Callable

from cogni_adapters.rest.client import RestClient
from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_adapters.rest.fields import flag, items, mapping, moment, number, text
from cogni_adapters.rest.follow import LONG_PAUSE_S
from cogni_adapters.rest.listed_source import ListedSource
from cogni_adapters.rest.paging import Part, every
from cogni_adapters.ticketing.redmine_permissions import Issue, Member, Project, Role
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
from cogni_kernel import HumanText, NotFoundError, NotPermittedError, UpstreamError

PAGE_SIZE = 100
ROWS = 100
PERMISSIONS_FOR_S = 30.0
OUTSIDER = "1"
"""The id of the role "Non member", which every Redmine has from its beginning."""

MEDIA_TYPE = "text/x-redmine"
NOTE = "/note/"

GONE = NotFoundError(HumanText("It is gone, or has other readers by now."))
SEES_PART = UpstreamError(
    HumanText("The account that reads Redmine does not see all of it. Make it an administrator."),
    retryable=False,
)
EMPTY = Skipped(Reason.EMPTY, "The note has no text.")
UNREAD = Unmappable(
    "Who may read it cannot be told: this service's account may not see its project's members or roles."
)


class RedmineConnectorAdapter(ListedSource, ConnectorPort):
    """Issues of one Redmine, open and closed, and their notes.

    What a role may see of single trackers alone is told by no call: do not connect a Redmine that uses that.

    Args:
        authority: What its accounts and groups are qualified by, `tickets.acme.example`.
        client: Signed in as an administrator.
        private_notes: Whether private notes are taken in, under their own rule.
        page_size: Issues a part.
        pause_s: Between two looks at what changed; each asks for every issue.

    Source:
        COGNI.BUILD spec, package adapters, "TicketingConnectorAdapter".
    """

    def __init__(
        self,
        authority: str,
        client: RestClient,
        *,
        private_notes: bool = False,
        page_size: int = PAGE_SIZE,
        pause_s: float = LONG_PAUSE_S,
    ) -> None:
        self._authority, self._client = authority, client
        self._private_notes, self._page_size, self._pause_s = private_notes, page_size, pause_s
        self._known: dict[str, tuple[float, object]] = {}

    async def _page(self, cursor: str | None) -> SourcePage:
        """Return the issues after one, by number: counting from the start would skip one for each deleted."""
        if not cursor:
            await self._refuse_part()
        after = int(cursor or 0)
        question: dict[str, str | int] = {"status_id": "*", "sort": "id", "limit": self._page_size}
        answer = await self._client.get("/issues.json", {**question, "issue_id": f">={after + 1}"})
        rows = items(answer, "issues")
        numbers = [number(row, "id") for row in rows]
        if numbers != sorted(set(numbers)) or any(each <= after for each in numbers):
            raise unexpected("issues that were not asked for, or not in their order")
        if not rows and number(answer, "total_count"):
            raise unexpected("no issue of several")
        documents = [each for row in rows for each in await self._family(text(row, "id"))]
        is_last = number(answer, "total_count") <= len(rows)
        return SourcePage(documents, None if is_last else str(numbers[-1]))

    async def _refuse_part(self) -> None:
        """Fail where the account is no administrator: the list would leave out what it does not see."""
        if not flag(await self._client.get("/users/current.json"), "user", "admin"):
            raise SourceFailedError(SEES_PART)

    async def _family(self, name: str) -> list[SourceDocument]:
        """Return an issue and its notes as documents; none where it went meanwhile."""
        try:
            issue = await self._read(name)
        except SourceFailedError as failed:
            if isinstance(failed.error, NotFoundError):
                return []
            raise
        project = await self._project(issue)
        notes = [note for note in items(issue, "journals") if self._is_taken(note)]
        return [
            self._issue(issue, _issue_rule(project, issue)),
            *(self._note(issue, note, _note_rule(project, issue, note)) for note in notes),
        ]

    async def _read(self, name: str) -> object:
        answer = await self._client.get(f"/issues/{int(name)}.json", {"include": "journals"})
        return mapping(answer, "issue")

    def _is_taken(self, note: object) -> bool:
        is_private = flag(note, "private_notes")
        return bool(mapping(note).get("notes")) and (self._private_notes or not is_private)

    def _issue(self, issue: object, rule: AccessRule | Unmappable) -> SourceDocument:
        return SourceDocument(
            source_id=text(issue, "id"),
            name=text(issue, "subject"),
            rule=rule,
            revision=_revision(text(issue, "subject"), mapping(issue).get("description")),
            updated_at=moment(issue, "updated_on"),
            url=f"{self._client.base_url}/issues/{text(issue, 'id')}",
        )

    def _note(self, issue: object, note: object, rule: AccessRule | Unmappable) -> SourceDocument:
        name, number_ = text(issue, "id"), text(note, "id")
        return SourceDocument(
            source_id=f"{name}{NOTE}{number_}",
            name=f"{text(issue, 'subject')}, note {number_}",
            rule=rule,
            revision=_revision(text(note, "notes")),
            updated_at=moment(note, "created_on"),
            url=f"{self._client.base_url}/issues/{name}#change-{number_}",
        )

    async def _content(self, document: SourceDocument) -> ExtractedDocument | Skipped:
        """Return a text, if it still has the readers that it was listed with."""
        name, _, note_name = document.source_id.partition(NOTE)
        issue = await self._read(name)
        project = await self._project(issue)
        title = f"#{name} {text(issue, 'subject')}"
        if not note_name:
            rule = _issue_rule(project, issue)
            heading = Block(BlockKind.HEADING, title, (title,))
            written = str(mapping(issue).get("description") or "")
            blocks = (heading, *_paragraphs(written, title))
        else:
            notes = [n for n in items(issue, "journals") if text(n, "id") == note_name]
            if not notes or not self._is_taken(notes[0]):
                raise SourceFailedError(GONE)
            rule = _note_rule(project, issue, notes[0])
            blocks = _paragraphs(text(notes[0], "notes"), title)
        if rule != document.rule:
            raise SourceFailedError(GONE)
        return ExtractedDocument(title, blocks, MEDIA_TYPE) if blocks else EMPTY

    async def _project(self, issue: object) -> Project | None:
        """Return who has which role in an issue's project; None where that may not be seen."""
        path = f"/projects/{int(text(issue, 'project', 'id'))}"
        try:
            project = await self._lately(path, lambda: self._client.get(f"{path}.json"))
            is_public = flag(project, "project", "is_public")
            rows = await self._lately(f"{path} members", lambda: self._members(path))
            members = [await self._member(row) for row in items(rows)]
            return Project(
                self._authority, members, await self._role(OUTSIDER) if is_public else None
            )
        except SourceFailedError as failed:
            if isinstance(failed.error, NotPermittedError | NotFoundError):
                return None
            raise

    async def _members(self, project: str) -> object:
        async def part(start: int) -> Part:
            place = {"offset": start, "limit": ROWS}
            answer = await self._client.get(f"{project}/memberships.json", place)
            rows = items(answer, "memberships")
            return rows, start + len(rows) >= number(answer, "total_count")

        return await every(part)

    async def _member(self, row: object) -> Member:
        is_group = "group" in mapping(row)
        given = items(row, "roles")
        own = [role for role in given if not mapping(role).get("inherited")]
        return Member(
            id=text(row, "group" if is_group else "user", "id"),
            is_group=is_group,
            own=tuple([await self._role(text(role, "id")) for role in own]),
            roles=tuple([await self._role(text(role, "id")) for role in given]),
        )

    async def _role(self, name: str) -> Role:
        path = f"/roles/{int(name)}.json"
        return Role.of(await self._lately(path, lambda: self._client.get(path)))

    async def _lately(self, key: str, ask: Callable[[], Awaitable[object]]) -> object:
        """Return what a question about permissions brought, half a minute ago at most."""
        known = self._known.get(key)
        if known is None or time.monotonic() - known[0] > PERMISSIONS_FOR_S:
            known = self._known[key] = time.monotonic(), await ask()
        return known[1]


def _issue_rule(project: Project | None, issue: object) -> AccessRule | Unmappable:
    return UNREAD if project is None else project.issue_rule(Issue.of(issue)).simplified()


def _note_rule(project: Project | None, issue: object, note: object) -> AccessRule | Unmappable:
    if project is None:
        return UNREAD
    is_private, author = flag(note, "private_notes"), text(note, "user", "id")
    return project.note_rule(Issue.of(issue), author, is_private=is_private)


def _revision(*texts: object) -> str:
    """Return what changes with these texts, but holds none of them: a time has no parts of a second there."""
    return hashlib.sha256("\0".join(map(str, texts)).encode()).hexdigest()


def _paragraphs(written: str, title: str) -> tuple[Block, ...]:
    parts = (part.strip() for part in written.replace("\r\n", "\n").split("\n\n"))
    return tuple(Block(BlockKind.PARAGRAPH, part, (title,)) for part in parts if part)
