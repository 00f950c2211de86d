"""From the outbox to whoever publishes, at least once, in order per subject."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from cogni_application.background import forever
from cogni_domain.events_outgoing import OutgoingEvent
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_kernel import Err, Ok, Result

BATCH = 256
LEASE = timedelta(seconds=30)
IDLE_S = 0.2

Publish: TypeAlias = Callable[[Sequence[OutgoingEvent]], Awaitable[Result[None]]]
"""Publishes events in their order. After an Err any of them may be out; one that is not retryable refuses
an event for good."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutboxRelay:
    """One relay works at a time, by lease. An event is marked after it is published, never before.

    Attributes:
        owner: Names this process among those that may relay.

    Source:
        DESIGN D7, D25.
    """

    outbox: EventOutboxPort
    publish: Publish
    clock: ClockPort
    owner: str

    async def work(self) -> None:
        """Relay until cancelled."""
        await forever(self.relay_off, IDLE_S)

    async def relay_off(self) -> None:
        """Relay until nothing more gets out."""
        while await self.relay_once():
            pass

    async def relay_once(self) -> int:
        """Relay one batch; return how many events were published or refused."""
        waiting = await self.outbox.unpublished(1)
        if isinstance(waiting, Err) or not waiting.value:
            return 0
        held = await self.outbox.hold(self.owner, self.clock.now(), LEASE)
        if isinstance(held, Err) or not held.value:
            return 0
        found = await self.outbox.unpublished(BATCH)
        if isinstance(found, Err) or not found.value:
            return 0
        done = await self.publish(found.value)
        if isinstance(done, Ok):
            return await self._mark(found.value)
        return await self._one_by_one(found.value)

    async def _one_by_one(self, events: Sequence[OutgoingEvent]) -> int:
        """Publish each by itself, so that one event holds up its own subject alone."""
        ended, stuck = 0, set[tuple[str, str]]()
        for event in events:
            subject = (str(event.tenant_id), event.subject)
            if subject in stuck:
                continue
            done = await self.publish([event])
            if isinstance(done, Ok):
                ended += await self._mark([event])
            elif done.error.retryable:
                stuck.add(subject)
            else:
                ended += await self._refuse(event, f"{done.error.code}: {done.error.message}")
        return ended

    async def _mark(self, events: Sequence[OutgoingEvent]) -> int:
        numbers = [event.number for event in events]
        marked = await self.outbox.published(self.owner, numbers, self.clock.now())
        return len(numbers) if isinstance(marked, Ok) and marked.value else 0

    async def _refuse(self, event: OutgoingEvent, reason: str) -> int:
        _log.error("event %s of type %s cannot be published: %s", event.key, event.type, reason)
        refused = await self.outbox.refuse(self.owner, event.number, reason, self.clock.now())
        return 1 if isinstance(refused, Ok) and refused.value else 0
