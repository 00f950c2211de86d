"""Events that were committed with what caused them, and wait to be published."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from cogni_domain.events_outgoing import OutgoingEvent
from cogni_kernel import Result


class EventOutboxPort(Protocol):
    """Implementations must pass `contracts.event_outbox.EventOutboxContract`."""

    async def hold(self, owner: str, now: datetime, lease: timedelta) -> Result[bool]:
        """Take the relay's lease, or keep it; False where another owner has it until later than now."""
        ...

    async def unpublished(self, most: int) -> Result[Sequence[OutgoingEvent]]:
        """Return the first events that are neither published nor refused, in order."""
        ...

    async def published(self, owner: str, numbers: Sequence[int], now: datetime) -> Result[bool]:
        """Mark events as published. False, and nothing changes, where `owner` has lost the lease."""
        ...

    async def refuse(self, owner: str, number: int, reason: str, now: datetime) -> Result[bool]:
        """Set an event aside that can never be published, with the reason; False as above."""
        ...
