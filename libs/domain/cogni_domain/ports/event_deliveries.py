"""What is still to be told to whom."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from cogni_domain.audit import AuditFact
from cogni_domain.events_outgoing import DeadDelivery, LeasedDelivery, NewDelivery, Settlement
from cogni_kernel import Result, TenantId


class EventDeliveriesPort(Protocol):
    """Implementations must pass `contracts.event_deliveries.EventDeliveriesContract`."""

    async def add(self, new: Sequence[NewDelivery], now: datetime) -> Result[int]:
        """Add deliveries, due at once; return how many are new: a subscription gets an event once."""
        ...

    async def take(
        self, now: datetime, lease: timedelta, at_once: int
    ) -> Result[Sequence[LeasedDelivery]]:
        """Lease what is due, so that no subscription has more than `at_once` in all hands together.

        Those of subscriptions that are not active, or whose endpoint asked to be left alone, are not due.
        """
        ...

    async def settle(self, held: LeasedDelivery, end: Settlement, now: datetime) -> Result[bool]:
        """Write what came of an attempt; False, and nothing changes, where the lease was lost."""
        ...

    async def dead(
        self, tenant: TenantId, subscription: str, most: int
    ) -> Result[Sequence[DeadDelivery]]:
        """Return deliveries that were given up, the latest first."""
        ...

    async def redrive(
        self, tenant: TenantId, subscription: str, keys: Sequence[str], fact: AuditFact
    ) -> Result[int]:
        """Have dead deliveries tried again from the first attempt on, due at `fact.at`; return how many.

        Args:
            keys: Of the events; none of them means every dead one.

        Errors:
            ConflictError: The subscription is not active.
            NotFoundError: The tenant has none of that id.
        """
        ...

    async def forget(self, before: datetime) -> Result[int]:
        """Delete what was delivered, and events that were published, before then; return how many rows."""
        ...
