"""Who hears of what: an endpoint outside, asked for by one administrator and confirmed by another.

REQUESTED ─ confirm ▸ ACTIVE ─ it answers 410 ▸ DISABLED
    ├ decline ▸ DECLINED  └ remove ▸ REMOVED
    └ CONFIRM_WITHIN passes: it can only be declined
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import get_args

from cogni_domain.access.grants import Grant, Sensitivity
from cogni_domain.events import Event
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import GrantKey, HumanText, PrincipalId, TenantId

ADMINISTER_EVENTS = Grant(
    GrantKey("events.administer"),
    HumanText("Send events out"),
    HumanText(
        "Lets a person ask that an address outside be told what happens, never what was said, and confirm "
        "what another administrator has asked for. It takes two."
    ),
    sensitivity=Sensitivity.RESTRICTED,
)
EVENT_TYPES = frozenset(kind.__name__ for kind in get_args(Event))
CONFIRM_WITHIN = timedelta(days=7)
TWO_KEYS = timedelta(hours=24)
"""How long the former secret signs beside a new one."""

MAX_SUBSCRIPTIONS = 20
"""How many of a tenant may be asked for or active."""


class SubscriptionState(Enum):
    """Where a subscription is in its life; only an ACTIVE one is sent anything."""

    REQUESTED = "requested"
    ACTIVE = "active"
    DECLINED = "declined"
    DISABLED = "disabled"
    REMOVED = "removed"


STANDING = (SubscriptionState.REQUESTED, SubscriptionState.ACTIVE)


@dataclass(frozen=True, slots=True)
class SealedSecrets:
    """What a subscription's messages are signed with, encrypted.

    Attributes:
        former: The one before, good until `former_until`; None where there was none.
    """

    current: str = field(repr=False)
    former: str | None = field(default=None, repr=False)
    former_until: datetime | None = None

    def valid_at(self, now: datetime) -> tuple[str, ...]:
        """Return those that sign at this moment, the newest first."""
        if self.former is None or self.former_until is None or now >= self.former_until:
            return (self.current,)
        return self.current, self.former


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing wish to hear of events.

    Attributes:
        types: Names of event classes, like `ToolFailed`.
        decided_by: Who confirmed or declined it; None until then.

    Raises:
        ValueError: No type, or one that there is not.
    """

    id: str
    tenant_id: TenantId
    endpoint: Endpoint
    types: frozenset[str]
    state: SubscriptionState
    requested_by: PrincipalId
    requested_at: datetime
    since: datetime
    secrets: SealedSecrets = field(repr=False)
    decided_by: PrincipalId | None = None

    def __post_init__(self) -> None:
        if not self.types or self.types - EVENT_TYPES:
            known = ", ".join(sorted(EVENT_TYPES))
            raise ValueError(f"a subscription names one or more of {known}")
