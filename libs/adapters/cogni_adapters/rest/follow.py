"""What changes at a source that can only be asked: its whole list, compared with what it was."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress

from cogni_adapters.rest.failures import SourceFailedError
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument, SourcePage

PAUSE_S = 60.0
LONG_PAUSE_S = 300.0
"""Where a listing takes many calls, of a source that others work with meanwhile."""

MAX_STEPS = 1_000_000

ReadPage = Callable[[str | None], Awaitable[SourcePage]]


async def follow(
    read_page: ReadPage,
    pause_s: float = PAUSE_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[ChangeEvent]:
    """Yield what is different each time that the list is read again, deletions first.

    Change feeds tell neither of new permissions nor, most of them, of deletions; the list tells both. A
    listing that fails halfway says nothing of what it did not reach, so it is dropped and made again.
    """
    known: Mapping[str, SourceDocument] | None = None
    while True:
        with suppress(SourceFailedError):
            now = await _everything(read_page)
            for event in differences(now if known is None else known, now):
                yield event
            known = now
        await sleep(pause_s)


async def _everything(read_page: ReadPage) -> dict[str, SourceDocument]:
    found: dict[str, SourceDocument] = {}
    cursor: str | None = None
    for _ in range(MAX_STEPS):
        page = await read_page(cursor)
        found.update((document.source_id, document) for document in page.documents)
        if (cursor := page.next_cursor) is None:
            break
    return found


def differences(
    before: Mapping[str, SourceDocument], now: Mapping[str, SourceDocument]
) -> list[ChangeEvent]:
    """Return what happened between two listings; what moved is told with its rule of now."""
    gone = sorted(before.keys() - now.keys())
    events = [ChangeEvent(ChangeKind.DELETED, source_id) for source_id in gone]
    for source_id, document in now.items():
        kind = _kind(before.get(source_id), document)
        if kind is not None:
            events.append(ChangeEvent(kind, source_id, document))
    return events


def _kind(before: SourceDocument | None, now: SourceDocument) -> ChangeKind | None:
    if before is None or before.revision != now.revision:
        return ChangeKind.EDITED
    if before.url != now.url:
        return ChangeKind.MOVED
    return None if before.rule == now.rule else ChangeKind.ACL_CHANGED
