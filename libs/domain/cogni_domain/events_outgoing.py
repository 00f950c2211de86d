"""Events on their way out of the house: how each is retried, and what came of an attempt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from cogni_domain.subscriptions import SealedSecrets
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import TenantId

MAX_BODY = 2048
"""Bytes of an event as it is sent: handles and metadata need no more."""

MAX_ATTEMPTS = 10
_WAITS_S = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
_JITTER = 0.1
MAX_PAUSE = timedelta(days=1)
"""The longest that an endpoint is left alone because it asked for it."""

_SUBJECTS = ("conversation_ref", "run_ref", "window")


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """An event as the outbox holds it.

    Attributes:
        number: Its place in the outbox.
        key: Its name, the same however often it is sent: `events.idempotency_key`.
        payload: As of `events.event_payload`.
    """

    number: int
    key: str
    tenant_id: TenantId
    payload: Mapping[str, object]
    happened_at: datetime

    @property
    def type(self) -> str:
        """The class of the event, like `ToolFailed`."""
        return str(self.payload["type"])

    @property
    def subject(self) -> str:
        """What it happened to: a conversation, else a run, else a budget window."""
        return str(next(self.payload[name] for name in _SUBJECTS if name in self.payload))


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """One event for one subscription; `body` is sent as it is here on every attempt."""

    subscription_id: str
    tenant_id: TenantId
    event_key: str
    type: str
    body: str


@dataclass(frozen=True, slots=True)
class LeasedDelivery:
    """A delivery in one worker's hands.

    Attributes:
        attempt: Counts from 1.
        lease: Proves that the worker still holds it.
    """

    id: int
    delivery: NewDelivery
    attempt: int
    lease: str
    endpoint: Endpoint
    secrets: SealedSecrets = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeadDelivery:
    """A delivery that was given up, with why: a person may have it tried again."""

    event_key: str
    type: str
    attempts: int
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """What one attempt sends.

    Attributes:
        id: The event's key, the same on every attempt.
        secrets: What to sign with, `whsec_…`; two of them while one replaces the other.
    """

    id: str
    body: str
    at: datetime
    secrets: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Delivered:
    """The endpoint said that it has the event."""

    status: int


@dataclass(frozen=True, slots=True)
class NotDelivered:
    """It did not, as far as is known. `retry_after` is what it asked for, if anything."""

    reason: str
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class EndpointGone:
    """The endpoint says that it wants nothing more, ever."""


DeliveryOutcome: TypeAlias = Delivered | NotDelivered | EndpointGone


@dataclass(frozen=True, slots=True)
class TryAgain:
    """The delivery waits until `at`; with `pause`, so does all that goes to its endpoint."""

    at: datetime
    reason: str
    pause: bool = False


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The delivery is dead; with `disable`, its subscription is too, and all that waits for it."""

    reason: str
    disable: bool = False


Settlement: TypeAlias = Delivered | TryAgain | GivenUp


def settle(outcome: DeliveryOutcome, attempt: int, now: datetime, chance: float) -> Settlement:
    """Return what follows from an attempt: ten of them within 75 hours and 35 minutes, give or take a tenth.

    Args:
        attempt: Which one it was, from 1.
        chance: From 0 up to 1; spreads out those that failed together.

    Source:
        Standard Webhooks 1.0.0, "Retry schedule".
    """
    if isinstance(outcome, Delivered):
        return outcome
    if isinstance(outcome, EndpointGone):
        return GivenUp("the endpoint is gone", disable=True)
    if attempt >= MAX_ATTEMPTS:
        return GivenUp(outcome.reason)
    wait = timedelta(seconds=_WAITS_S[attempt - 1] * (1 - _JITTER + 2 * _JITTER * chance))
    asked = min(outcome.retry_after or timedelta(), MAX_PAUSE)
    return TryAgain(now + max(wait, asked), outcome.reason, pause=outcome.retry_after is not None)
