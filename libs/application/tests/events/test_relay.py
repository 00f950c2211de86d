"""The relay loses nothing, whatever ends it, and keeps the order of each subject."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from cogni_application.events.relay import BATCH, LEASE
from cogni_domain.events import BudgetThreshold, ConversationStarted
from cogni_domain.events_outgoing import OutgoingEvent
from cogni_kernel import (
    Err,
    HumanText,
    InvalidArgumentError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
    UpstreamError,
)
from cogni_testing.assertions import ok

ACME = TenantId("acme")
DOWN: Result[None] = Err(UpstreamError(HumanText("The broker is down.")))
TOO_LARGE: Result[None] = Err(InvalidArgumentError(HumanText("Too large.")))


def at(percent: int, window: str = "day") -> BudgetThreshold:
    return BudgetThreshold(ACME, window, percent)


class Published:
    """Takes what is published; `answers` goes first, by percentage."""

    def __init__(self, answers: dict[int, list[Result[None]]] | None = None) -> None:
        self.answers = answers or {}
        self.taken: list[tuple[str, int]] = []

    async def __call__(self, events: Sequence[OutgoingEvent]) -> Result[None]:
        for event in events:
            percent = event.payload["pct_of_limit"]
            assert isinstance(percent, int)
            if waiting := self.answers.get(percent):
                return waiting.pop(0)
        self.taken += [(e.subject, int(str(e.payload["pct_of_limit"]))) for e in events]
        return Ok(None)


async def test_every_event_is_published_once_in_order(house: Any) -> None:
    await house.write(*(at(n, f"w{n % 3}") for n in range(20)))
    published = Published()

    await house.relay(published).relay_off()
    await house.relay(published).relay_off()

    assert [n for _, n in published.taken] == list(range(20))


async def test_more_than_a_batch_gets_out(house: Any) -> None:
    starts = [
        ConversationStarted(ACME, f"c{n}", "chat", PrincipalId("alice")) for n in range(BATCH + 5)
    ]
    await house.write(*starts)
    seen: list[str] = []

    async def publish(events: Sequence[OutgoingEvent]) -> Result[None]:
        seen.extend(e.subject for e in events)
        return Ok(None)

    await house.relay(publish).relay_off()

    assert seen == [f"c{n}" for n in range(BATCH + 5)]


async def test_nothing_is_marked_before_it_is_published(house: Any) -> None:
    """The process ends while it publishes: the event comes again."""
    await house.write(at(1))

    async def dies(_: Sequence[OutgoingEvent]) -> Result[None]:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await house.relay(dies).relay_off()

    published = Published()
    await house.relay(published).relay_off()
    assert published.taken == [("day", 1)]


async def test_what_was_published_but_not_marked_comes_again(house: Any) -> None:
    await house.write(at(1))
    published = Published()

    async def slow(events: Sequence[OutgoingEvent]) -> Result[None]:
        ok(await published(events))
        house.clock.advance(LEASE)
        assert ok(await house.outbox.hold("b", house.clock.now(), LEASE))
        return Ok(None)

    await house.relay(slow, "a").relay_off()
    await house.relay(published, "b").relay_off()

    assert published.taken == [("day", 1)] * 2


async def test_a_broker_that_is_down_loses_nothing(house: Any) -> None:
    await house.write(*(at(n) for n in range(5)))
    published = Published({2: [DOWN, DOWN, DOWN]})

    relay = house.relay(published)
    await relay.relay_off()
    assert [n for _, n in published.taken][:2] == [0, 1]
    await relay.relay_off()

    assert [n for _, n in published.taken] == [0, 1, 2, 3, 4]


async def test_one_subject_that_is_stuck_holds_up_no_other_and_keeps_its_order(
    house: Any,
) -> None:
    await house.write(*(at(n, f"w{n % 2}") for n in range(6)))
    published = Published({2: [DOWN] * 4})

    relay = house.relay(published)
    await relay.relay_once()
    assert published.taken == [("w0", 0), ("w1", 1), ("w1", 3), ("w1", 5)]
    await relay.relay_off()
    await relay.relay_off()
    await relay.relay_off()

    assert [n for w, n in published.taken if w == "w0"] == [0, 2, 4]
    assert [n for w, n in published.taken if w == "w1"] == [1, 3, 5]


async def test_an_event_that_can_never_be_published_is_set_aside(
    house: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await house.write(*(at(n) for n in range(4)))
    published = Published({1: [TOO_LARGE, TOO_LARGE]})

    await house.relay(published).relay_off()
    await house.relay(published).relay_off()

    assert [n for _, n in published.taken] == [0, 2, 3]
    assert "InvalidArgument: Too large." in caplog.text


async def test_one_relay_works_and_another_takes_over_when_its_lease_is_over(house: Any) -> None:
    await house.write(at(1))
    first, second = Published(), Published()
    assert await house.relay(first, "a").relay_once() == 1
    await house.write(at(2))

    assert await house.relay(second, "b").relay_once() == 0
    house.clock.advance(LEASE + timedelta(seconds=1))
    assert await house.relay(second, "b").relay_once() == 1

    assert (first.taken, second.taken) == ([("day", 1)], [("day", 2)])
