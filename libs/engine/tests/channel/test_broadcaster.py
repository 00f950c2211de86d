from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    Broadcaster,
    BroadcastStep,
    ChannelKey,
    Delivered,
    DeliveryFailed,
    DeliveryOutcome,
    Envelope,
    Marker,
    MemoryReferenceStore,
    NoListener,
    NullBroadcaster,
    PlanPayload,
)
from cogni_kernel import HumanText, UpstreamError

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KEY = ChannelKey.derive("c1", "alice")
PLAN = PlanPayload("A plan", ())
DOWN = DeliveryFailed(UpstreamError(HumanText("The channel is down.")))


class Outcomes(Broadcaster):
    """Delivers as it is told."""

    result: DeliveryOutcome | Exception = Delivered()

    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    ("result", "recorded"),
    [
        (Delivered(), "Delivered"),
        (NoListener(), "NoListener"),
        (DOWN, "DeliveryFailed"),
        (ConnectionError("reset"), "DeliveryFailed"),
    ],
)
async def test_whatever_becomes_of_a_delivery_the_marker_resolves_and_it_is_recorded(
    result: DeliveryOutcome | Exception, recorded: str
) -> None:
    store = MemoryReferenceStore()
    steps: list[BroadcastStep] = []
    broadcaster = Outcomes(KEY, store, lambda: NOON, steps.append)
    broadcaster.result = result

    marker = await broadcaster.publish(PLAN)

    assert await store.get(KEY, marker) == PLAN
    assert steps == [BroadcastStep("[[PLAN:p1]]", recorded)]


async def test_without_a_surface_payloads_are_captured() -> None:
    broadcaster = NullBroadcaster(KEY, MemoryReferenceStore(), lambda: NOON)

    first = await broadcaster.publish(PLAN)
    second = await broadcaster.publish(PLAN)

    assert [str(first), str(second)] == ["[[PLAN:p1]]", "[[PLAN:p2]]"]
    assert broadcaster.captured() == (
        Envelope(KEY, first, PLAN, "answer", NOON),
        Envelope(KEY, second, PLAN, "answer", NOON),
    )


async def test_a_delivery_is_recorded_for_callers_without_a_surface_too() -> None:
    steps: list[BroadcastStep] = []
    await NullBroadcaster(KEY, MemoryReferenceStore(), lambda: NOON, steps.append).publish(PLAN)

    assert steps == [BroadcastStep("[[PLAN:p1]]", "Delivered")]


def test_nobody_can_turn_a_broadcaster_to_another_channel() -> None:
    broadcaster = NullBroadcaster(KEY, MemoryReferenceStore(), lambda: NOON)

    with pytest.raises(AttributeError):
        broadcaster.channel_key = ChannelKey.derive("c2", "bob")  # type: ignore[misc]
    assert broadcaster.channel_key == KEY


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_two_readers_or_conversations_never_share_a_key(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert (ChannelKey.derive(*one) == ChannelKey.derive(*other)) is (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("1:a", "b"), ("1", ":ab")), (("", "ab"), ("ab", ""))],
)
def test_text_cannot_be_moved_from_one_half_of_a_key_to_the_other(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert ChannelKey.derive(*one) != ChannelKey.derive(*other)


def test_a_key_tells_nothing_of_what_it_is_derived_from() -> None:
    key = ChannelKey.derive("salary-talk", "alice\ud800")

    assert len(key.value) == 32
    assert "alice" not in key.value
    assert int(key.value, 16) >= 0


def test_every_broadcaster_says_how_it_delivers() -> None:
    make: Callable[..., object] = Broadcaster

    with pytest.raises(TypeError, match="abstract"):
        make(KEY, MemoryReferenceStore(), lambda: NOON)


def test_a_marker_is_all_that_a_tool_gets_back() -> None:
    assert Broadcaster.publish.__annotations__["return"] is Marker
