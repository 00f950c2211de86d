"""Putting the process together. Nothing runs before it is served."""

import asyncio
import random
import uuid
from dataclasses import dataclass, field
from datetime import datetime

from cogni_application.events.delivering import DeliveryWorker
from cogni_application.events.fan_out import FanOut
from cogni_application.events.relay import OutboxRelay
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_event_sink.settings import Settings
from cogni_kernel import Err, Ok, Result
from cogni_runtime.bindings import Bindings, event_sink


@dataclass(frozen=True, slots=True)
class EventSink:
    """The relay and the worker of this process, and what tells whether it is well.

    Attributes:
        draining: Set once nothing more is to be begun.
    """

    bindings: Bindings
    relay: OutboxRelay
    worker: DeliveryWorker
    draining: asyncio.Event = field(default_factory=asyncio.Event)

    async def why_not_ready(self) -> str | None:
        """Return why no event would leave now; None where it would."""
        if self.draining.is_set():
            return "The process is ending."
        schema = await self.bindings.refuse_other_schema()
        return str(schema.error.message) if isinstance(schema, Err) else None

    async def waiting_since(self) -> Result[datetime | None]:
        """Return since when the oldest event waits to be published; None where none does."""
        found = await self.relay.outbox.unpublished(1)
        if isinstance(found, Err):
            return found
        return Ok(found.value[0].happened_at if found.value else None)


def build(settings: Settings) -> EventSink:
    """Put the process together."""
    bindings = event_sink(settings.database_url, settings.key)
    c = bindings.container
    clock, deliveries = c.resolve(ClockPort), c.resolve(EventDeliveriesPort)
    fan_out = FanOut(c.resolve(EventSubscriptionsPort), deliveries, clock)
    relay = OutboxRelay(c.resolve(EventOutboxPort), fan_out.publish, clock, uuid.uuid4().hex)
    worker = DeliveryWorker(
        deliveries,
        c.resolve(EventSecretsPort),
        c.resolve(EventSinkPort),
        clock,
        random.Random().random,  # noqa: S311 - spreads retries, guards nothing
    )
    return EventSink(bindings, relay, worker)
