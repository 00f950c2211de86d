"""What is told of two listings of a source."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_adapters.rest.follow import differences, follow
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.source import ChangeKind, SourceDocument, SourcePage

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HR = AccessRule.any_of("g:wiki/hr")


def page(name: str, revision: str = "1") -> SourceDocument:
    return SourceDocument(name, name, AccessRule.everyone(), revision, NOW, f"https://w/{name}")


def told(before: Sequence[SourceDocument], now: Sequence[SourceDocument]) -> list[tuple[str, str]]:
    events = differences({d.source_id: d for d in before}, {d.source_id: d for d in now})
    return [(event.kind.value, event.source_id) for event in events]


def test_each_kind_of_change_is_told_and_deletions_first() -> None:
    before = [page("a"), page("b"), page("c"), page("d"), page("e")]
    now = [
        page("new"),
        page("b"),
        page("c", "2"),
        replace(page("d"), rule=HR),
        replace(page("e"), url="https://w/hr/e", rule=HR),
    ]

    assert told(before, now) == [
        ("deleted", "a"),
        ("edited", "new"),
        ("edited", "c"),
        ("acl_changed", "d"),
        ("moved", "e"),
    ]


async def test_a_listing_that_breaks_off_deletes_nothing() -> None:
    turns: list[list[SourceDocument] | SourceFailedError] = [
        [page("a"), page("b")],
        unexpected("half a page"),
        [page("a")],
    ]

    async def read_page(cursor: str | None) -> SourcePage:
        turn = turns.pop(0) if turns else [page("a")]
        if isinstance(turn, SourceFailedError):
            raise turn
        return SourcePage(turn, None)

    async with asyncio.timeout(10):
        event = await anext(follow(read_page, 0.001))

    assert (event.kind, event.source_id) == (ChangeKind.DELETED, "b")
    assert not turns


async def test_each_difference_is_told_once() -> None:
    turns = [[page("a"), page("b")], [page("a")], [page("a")], []]

    async def read_page(cursor: str | None) -> SourcePage:
        return SourcePage(turns.pop(0) if turns else [], None)

    changes = follow(read_page, 0.001)
    async with asyncio.timeout(10):
        told = [(await anext(changes)).source_id for _ in range(2)]

    assert told == ["b", "a"]


async def test_what_was_there_before_is_not_told() -> None:
    async def read_page(cursor: str | None) -> SourcePage:
        return SourcePage([page("a")], None)

    waiting = asyncio.ensure_future(anext(follow(read_page, 0.001)))
    await asyncio.sleep(0.05)

    assert not waiting.done()
    waiting.cancel()
