"""Confluence Cloud as a source: current pages, who may read them, and what changes."""

import time
from collections.abc import Sequence
from urllib.parse import parse_qs, quote, urlsplit

from cogni_adapters.rest.client import RestClient
from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_adapters.rest.fields import items, mapping, moment, number, text
from cogni_adapters.rest.follow import LONG_PAUSE_S
from cogni_adapters.rest.listed_source import ListedSource
from cogni_adapters.rest.paging import ListedPart, Part, every, part_at
from cogni_adapters.wiki.permissions import (
    UNREAD_LAYER,
    Layer,
    confluence_layer,
    confluence_page,
    confluence_space,
)
from cogni_adapters.wiki.storage_format import to_html
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.source import SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import (
    HumanText,
    NotFoundError,
    NotPermittedError,
)

PAGE_SIZE = 50
MEMBERS = 200
SPACE_FOR_S = 30.0

OLDEST_FIRST = "type = page order by created asc"
"""No edit and no move changes a page's place in this order."""

_READERS = "restrictions.read.restrictions.user,restrictions.read.restrictions.group"
_ABOVE = ",".join(f"ancestors.{layer}" for layer in _READERS.split(","))
EXPAND = f"version,space,ancestors,{_READERS},{_ABOVE}"

GONE = NotFoundError(HumanText("The page is gone, or has other readers by now."))


class ConfluenceConnectorAdapter(ListedSource, ConnectorPort):
    """Current pages of one site; archived ones and those in the bin are no part of it.

    A page keeps its id wherever it moves, and is mapped anew there.

    Args:
        authority: What the site's accounts and groups are qualified by, `acme.atlassian.example`.
        client: At the site's address; signed in as an account that sees every page and its restrictions.
        extractor: Reads a page's HTML.
        page_size: Documents a part.
        pause_s: Between two looks at what changed.

    Source:
        COGNI.BUILD spec, package adapters, "WikiConnectorAdapter".
    """

    def __init__(
        self,
        authority: str,
        client: RestClient,
        extractor: ExtractorPort,
        *,
        page_size: int = PAGE_SIZE,
        pause_s: float = LONG_PAUSE_S,
    ) -> None:
        self._authority, self._client, self._extractor = authority, client, extractor
        self._page_size, self._pause_s = page_size, pause_s
        self._spaces: dict[str, tuple[float, AccessRule | Unmappable]] = {}

    async def _page(self, cursor: str | None) -> SourcePage:
        return await part_at(cursor, self._part)

    async def _part(self, place: str) -> ListedPart:
        question: dict[str, str | int] = {"cql": OLDEST_FIRST, "expand": EXPAND}
        question |= {"limit": self._page_size} | ({"cursor": place} if place else {})
        answer = await self._client.get("/wiki/rest/api/content/search", question)
        rows = items(answer, "results")
        if len(rows) != number(answer, "size"):
            raise unexpected("half a page of results")
        current = {text(row, "id"): row for row in rows if _is_current(row)}
        documents = [await self._described(row) for row in current.values()]
        return documents, _cursor_of(answer)

    async def _content(self, document: SourceDocument) -> ExtractedDocument | Skipped:
        """Return a page's text, if it still has the readers that it was listed with."""
        path = f"/wiki/rest/api/content/{quote(document.source_id, safe='')}"
        page = await self._client.get(path, {"expand": f"{EXPAND},body.storage"})
        if not _is_current(page) or (await self._described(page)).rule != document.rule:
            raise SourceFailedError(GONE)
        title = text(page, "title")
        source = to_html(title, text(page, "body", "storage", "value"))
        return await self._extractor.extract(f"{title}.html", source)

    async def _described(self, page: object) -> SourceDocument:
        return SourceDocument(
            source_id=text(page, "id"),
            name=text(page, "title"),
            rule=await self._rule(page),
            revision=text(page, "version", "number"),
            updated_at=moment(page, "version", "when"),
            url=f"{self._client.base_url}/wiki{text(page, '_links', 'webui')}",
        )

    async def _rule(self, page: object) -> AccessRule | Unmappable:
        try:
            space = await self._space(text(page, "space", "id"))
            layers = [await self._layer(each) for each in (page, *items(page, "ancestors"))]
        except SourceFailedError as failed:
            if isinstance(failed.error, NotPermittedError | NotFoundError):
                return UNREAD_LAYER
            raise
        return confluence_page(space, layers)

    async def _space(self, space: str) -> AccessRule | Unmappable:
        """Return who may read in a space, as it was half a minute ago at most."""
        known = self._spaces.get(space)
        if known is not None and time.monotonic() - known[0] < SPACE_FOR_S:
            return known[1]
        found: list[object] = []
        place: dict[str, str] = {}
        while True:
            path = f"/wiki/api/v2/spaces/{quote(space, safe='')}/permissions"
            answer = await self._client.get(path, {"limit": MEMBERS, **place})
            found += items(answer, "results")
            following = _cursor_of(answer)
            if following is None:
                break
            if {"cursor": following} == place:
                raise unexpected("a list that does not go on")
            place = {"cursor": following}
        rule = confluence_space(self._authority, found)
        self._spaces[space] = time.monotonic(), rule
        return rule

    async def _layer(self, page: object) -> Layer:
        """Return a page's own restriction; where only its beginning came with the page, all of it."""
        shown = mapping(page).get("restrictions")
        if shown is not None:
            people = mapping(shown, "read", "restrictions")
            users, groups = mapping(people, "user"), mapping(people, "group")
            if _is_whole(users) and _is_whole(groups):
                return confluence_layer(
                    self._authority, items(users, "results"), items(groups, "results")
                )
        path = f"/wiki/rest/api/content/{quote(text(page, 'id'), safe='')}/restriction/byOperation/read"
        every_user = await every(lambda start: self._members(path, "user", start))
        every_group = await every(lambda start: self._members(path, "group", start))
        return confluence_layer(self._authority, every_user, every_group)

    async def _members(self, path: str, kind: str, start: int) -> Part:
        question = {"start": start, "limit": MEMBERS}
        answer = await self._client.get(path, {"expand": f"restrictions.{kind}", **question})
        rows = items(answer, "restrictions", kind, "results")
        return rows, not rows


def _is_current(page: object) -> bool:
    """Tell whether neither the page nor its whole space was put away."""
    space = mapping(page, "space").get("status", "current")
    return (text(page, "status"), space) == ("current", "current")


def _is_whole(people: object) -> bool:
    """Tell whether a list that came along with a page ends where it seems to."""
    rows: Sequence[object] = items(people, "results")
    return number(people, "size") == len(rows) < number(people, "limit")


def _cursor_of(answer: object) -> str | None:
    """Return the place that the next part begins at; of the link to it nothing else is used."""
    following = mapping(answer, "_links").get("next")
    if following is None:
        return None
    places = parse_qs(urlsplit(str(following)).query).get("cursor")
    if not places:
        raise unexpected("a next part without a place")
    return places[0]
