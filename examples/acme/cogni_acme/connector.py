"""The demo company's intranet as a source: its documents, their rules, and what changes."""

import hashlib
from collections.abc import AsyncIterator

from cogni_acme.content import Item
from cogni_acme.intranet import Change, Intranet
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result

PAGE_SIZE = 25


class IntranetConnector(ConnectorPort):
    """One tenant's intranet. An internal comment is a document of its own, with its own rule."""

    def __init__(
        self, intranet: Intranet, extractor: ExtractorPort, page_size: int = PAGE_SIZE
    ) -> None:
        if page_size < 1:
            raise ValueError("a page holds at least one document")
        self._intranet = intranet
        self._extractor = extractor
        self._page_size = page_size

    @property
    def id(self) -> str:
        return "intranet"

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        """Return the items after the id that the cursor names, whether or not it is still there."""
        rest = [item for item in self._intranet.items() if cursor is None or item.id > cursor]
        part = rest[: self._page_size]
        has_more = len(rest) > len(part)
        return Ok(SourcePage(list(map(_document, part)), part[-1].id if has_more else None))

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        item = self._intranet.get(document.source_id)
        if item is None:
            return Err(NotFoundError(HumanText(f"{document.name} is not there any more.")))
        return Ok(await self._extractor.extract(item.name, item.data))

    def changes(self) -> AsyncIterator[ChangeEvent]:
        return _told(self._intranet.changes())


async def _told(changes: AsyncIterator[Change]) -> AsyncIterator[ChangeEvent]:
    async for change in changes:
        for event in _events(change):
            yield event


def _document(item: Item) -> SourceDocument:
    return SourceDocument(
        source_id=item.id,
        name=item.title,
        rule=item.rule,
        revision=hashlib.sha256(item.data).hexdigest()[:16],
        updated_at=item.updated_at,
    )


def _events(change: Change) -> list[ChangeEvent]:
    """Return what happened, what touches access first."""
    before, after = change.before, change.after
    if after is None:
        return [ChangeEvent(ChangeKind.DELETED, change.item_id)]
    kinds = []
    if before is not None and before.place != after.place:
        kinds.append(ChangeKind.MOVED)
    elif before is not None and before.rule != after.rule:
        kinds.append(ChangeKind.ACL_CHANGED)
    if before is None or before.data != after.data:
        kinds.append(ChangeKind.EDITED)
    return [ChangeEvent(kind, change.item_id, _document(after)) for kind in kinds]
