from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.events import (
    BudgetThreshold,
    ConversationEnded,
    ConversationStarted,
    Event,
    ToolFailed,
    event_payload,
    idempotency_key,
)
from cogni_domain.events_outgoing import (
    MAX_ATTEMPTS,
    MAX_PAUSE,
    Delivered,
    DeliveryOutcome,
    EndpointGone,
    GivenUp,
    NotDelivered,
    OutgoingEvent,
    TryAgain,
    settle,
)
from cogni_kernel import PrincipalId, RunRef, TenantId
from cogni_testing.doubles import START

ACME = TenantId("acme")
FAILED = NotDelivered("answered 500")
CHANCES = st.floats(0, 1, exclude_max=True)


def waits(chance: float, outcome: DeliveryOutcome = FAILED) -> list[timedelta]:
    """Return how long each attempt waits for the next, until it is given up."""
    found: list[timedelta] = []
    for attempt in range(1, MAX_ATTEMPTS):
        end = settle(outcome, attempt, START, chance)
        assert isinstance(end, TryAgain)
        found.append(end.at - START)
    assert isinstance(settle(outcome, MAX_ATTEMPTS, START, chance), GivenUp)
    return found


def test_ten_attempts_take_three_days() -> None:
    assert sum(waits(0.5), timedelta()) == timedelta(hours=75, minutes=35, seconds=5)


@given(CHANCES)
def test_jitter_is_a_tenth_and_waits_grow(chance: float) -> None:
    found = waits(chance)
    plain = waits(0.5)

    for wait, middle in zip(found, plain, strict=True):
        assert middle * 0.899 <= wait <= middle * 1.101
    assert found == sorted(found)


def test_a_delivery_is_done() -> None:
    assert settle(Delivered(204), 10, START, 0.5) == Delivered(204)


def test_gone_ends_it_at_once_and_the_subscription_too() -> None:
    assert settle(EndpointGone(), 1, START, 0.5) == GivenUp("the endpoint is gone", disable=True)


@given(st.integers(1, MAX_ATTEMPTS - 1), st.integers(0, 10**9), CHANCES)
def test_what_an_endpoint_asks_for_is_kept_up_to_a_day(
    attempt: int, asked_s: int, chance: float
) -> None:
    asked = timedelta(seconds=asked_s)
    end = settle(NotDelivered("answered 429", asked), attempt, START, chance)
    plain = settle(FAILED, attempt, START, chance)

    assert isinstance(end, TryAgain)
    assert isinstance(plain, TryAgain)
    assert end.pause
    assert not plain.pause
    assert end.at == max(plain.at, START + min(asked, MAX_PAUSE))


@pytest.mark.parametrize(
    ("event", "subject"),
    [
        (ConversationStarted(ACME, "c1", "chat", PrincipalId("alice")), "c1"),
        (ConversationEnded(ACME, "c1", RunRef("r1"), 3), "c1"),
        (ToolFailed(ACME, RunRef("r1"), "call", "book_room", "Upstream"), "r1"),
        (BudgetThreshold(ACME, "day", 80), "day"),
    ],
)
def test_an_event_knows_what_it_happened_to(event: Event, subject: str) -> None:
    outgoing = OutgoingEvent(1, idempotency_key(event), ACME, event_payload(event), START)

    assert (outgoing.subject, outgoing.type) == (subject, type(event).__name__)
