"""A DokuWiki as a source: its pages, who may read them, and what changes."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_adapters.rest.fields import items, mapping, number, text
from cogni_adapters.rest.follow import PAUSE_S
from cogni_adapters.rest.listed_source import ListedSource
from cogni_adapters.wiki.markup import blocks_of, title_of
from cogni_adapters.wiki.permissions import AclLine, DokuWikiAcl, acl_lines
from cogni_adapters.wiki.xml_rpc import DokuWikiCalls
from cogni_domain.access.rule import Unmappable
from cogni_domain.knowledge.extracted import ExtractedDocument, Reason, Skipped
from cogni_domain.knowledge.source import SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_kernel import HumanText, NotFoundError, UpstreamError

PAGE_SIZE = 500
LISTING_FOR_S = 30.0
MEDIA_TYPE = "text/x-dokuwiki"

UNREAD = Unmappable("The wiki's access list cannot be read. Let this service read it: {}")
EXPANDED = Unmappable(
    "The wiki's access list names the account that crawls, or a wildcard does. Give the account a group of its"
    " own that no entry names, or let this service read acl.auth.php."
)
SUPERUSER = 255
SEES_PART = UpstreamError(
    HumanText(
        "The account that crawls the wiki does not see all of it. Make it a superuser there."
    ),
    retryable=False,
)
GONE = NotFoundError(HumanText("The page is gone, or has other readers by now."))
EMPTY = Skipped(Reason.EMPTY, "The page has no text. Write some, or delete it.")


class AclSource(Protocol):
    """Where a wiki's access list is read."""

    async def lines(self) -> Sequence[AclLine] | Unmappable:
        """Return all entries of now, or why they cannot be had."""
        ...


@dataclass(frozen=True, slots=True)
class AclFile(AclSource):
    """The list itself, `conf/acl.auth.php`: the only place that shows wildcards as they are."""

    path: Path

    async def lines(self) -> Sequence[AclLine] | Unmappable:
        try:
            return acl_lines(await asyncio.to_thread(self.path.read_text, "utf-8"))
        except (OSError, ValueError) as failure:
            return Unmappable(UNREAD.explanation.format(type(failure).__name__))


@dataclass(frozen=True, slots=True)
class AclByCall(AclSource):
    """The list as the wiki shows it to the account that crawls.

    It is shown with `%USER%` and `%GROUP%` filled in for that account, so an entry that names the account or
    one of its groups may be a wildcard, which says something of every page.

    Args:
        account: The account that crawls.
        groups: All its groups, at least one: without, a wildcard would not be seen at all.
    """

    calls: DokuWikiCalls
    account: str
    groups: frozenset[str]

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("the account that crawls needs a group of its own")

    async def lines(self) -> Sequence[AclLine] | Unmappable:
        try:
            shown = mapping(await self.calls.call("plugin.acl.listAcls"))
            found = [
                AclLine(scope, quote(subject, safe="@"), _level(text(subjects, subject)))
                for scope, subjects in shown.items()
                for subject in mapping(subjects)
            ]
        except SourceFailedError as failed:
            if failed.error.retryable:
                raise
            return Unmappable(UNREAD.explanation.format(failed.error.message))
        return EXPANDED if any(self._may_be_wild(line) for line in found) else found

    def _may_be_wild(self, line: AclLine) -> bool:
        own = {self.account, *self.groups}
        subjects = {self.account, *(f"@{group}" for group in self.groups)}
        return line.subject in subjects or not own.isdisjoint(line.scope.split(":"))


def _level(said: str) -> int | None:
    return int(said) if said.isdecimal() else None


class DokuWikiConnectorAdapter(ListedSource, ConnectorPort):
    """Pages of one wiki. A page that moves is gone at the one place and new at the other, with that place's rule.

    Args:
        authority: What the wiki's accounts and groups are qualified by, `wiki.acme.example`.
        calls: Signed in as an account that sees every page.
        acl: Where the access list is read, anew for every part of a listing and every page.
        page_size: Documents a part.
        pause_s: Between two looks at what changed.

    Source:
        COGNI.BUILD spec, package adapters, "WikiConnectorAdapter".
    """

    def __init__(
        self,
        authority: str,
        calls: DokuWikiCalls,
        acl: AclSource,
        *,
        page_size: int = PAGE_SIZE,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._authority, self._calls, self._acl = authority, calls, acl
        self._page_size, self._pause_s = page_size, pause_s
        self._listed: tuple[float, Mapping[str, object]] | None = None

    async def _page(self, cursor: str | None) -> SourcePage:
        """Return the pages after one, in the order of their ids, which no edit changes."""
        by_id = await self._listing(is_first=cursor is None)
        acl = await self._read_acl()
        after = sorted(page for page in by_id if cursor is None or page > cursor)
        part = after[: self._page_size]
        documents = [self._described(by_id[page], acl) for page in part]
        return SourcePage(documents, part[-1] if len(after) > len(part) else None)

    async def _listing(self, *, is_first: bool) -> Mapping[str, object]:
        """Return all pages; the wiki tells them at once, so the next part may go on in what the first one saw.

        It leaves out what the account may not read, without a word: one that lost its office is no reason to
        delete the rest.
        """
        listing = self._listed
        if is_first or listing is None or time.monotonic() - listing[0] > LISTING_FOR_S:
            if await self._calls.call("wiki.aclCheck", "start") != SUPERUSER:
                raise SourceFailedError(SEES_PART)
            found = items(await self._calls.call("dokuwiki.getPagelist", "", {"hash": True}))
            by_id = {text(page, "id"): page for page in found}
            listing = self._listed = time.monotonic(), by_id
        return listing[1]

    async def _content(self, document: SourceDocument) -> ExtractedDocument | Skipped:
        """Return a page's text, if it still has the readers that it was listed with."""
        found = await self._calls.call("wiki.getPage", document.source_id)
        if not isinstance(found, str):
            raise unexpected("a page that is no text")
        acl = await self._read_acl()
        now = acl if isinstance(acl, Unmappable) else acl.rule_of(document.source_id)
        if not found or now != document.rule:
            raise SourceFailedError(GONE)
        blocks = blocks_of(found)
        if not blocks:
            return EMPTY
        return ExtractedDocument(title_of(blocks, document.name), blocks, MEDIA_TYPE)

    async def _read_acl(self) -> DokuWikiAcl | Unmappable:
        lines = await self._acl.lines()
        return lines if isinstance(lines, Unmappable) else DokuWikiAcl(self._authority, lines)

    def _described(self, page: object, acl: DokuWikiAcl | Unmappable) -> SourceDocument:
        name = text(page, "id")
        return SourceDocument(
            source_id=name,
            name=name,
            rule=acl if isinstance(acl, Unmappable) else acl.rule_of(name),
            revision=f"{number(page, 'rev')}-{text(page, 'hash')}",
            updated_at=datetime.fromtimestamp(number(page, "mtime"), UTC),
            url=f"{self._calls.client.base_url}/doku.php?id={quote(name, safe=':')}",
        )
