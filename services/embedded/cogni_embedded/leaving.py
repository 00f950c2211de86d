"""Events on their way out of this one process."""

import asyncio
import random
import secrets
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass, field

from cogni_application.events.delivering import DeliveryWorker
from cogni_application.events.fan_out import FanOut
from cogni_application.events.relay import OutboxRelay
from cogni_application.events.subscribing import SubscriptionService
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_runtime.container import Container


@dataclass(frozen=True, slots=True)
class Leaving:
    """Who decides on subscriptions, and what brings events to them.

    Attributes:
        draining: Set once no further attempt is to be begun.
    """

    subscriptions: SubscriptionService
    relay: OutboxRelay
    worker: DeliveryWorker
    draining: asyncio.Event = field(default_factory=asyncio.Event)

    def work(self) -> tuple[Coroutine[None, None, None], ...]:
        """Return what goes on for as long as the process lives; delivering comes first."""
        return self.worker.work(self.draining), self.relay.work(), self.worker.sweep()


def build_leaving(c: Container) -> Leaving:
    """Put it together."""
    clock, deliveries = c.resolve(ClockPort), c.resolve(EventDeliveriesPort)
    subscriptions, sink = c.resolve(EventSubscriptionsPort), c.resolve(EventSinkPort)
    sealed = c.resolve(EventSecretsPort)
    fan_out = FanOut(subscriptions, deliveries, clock)
    return Leaving(
        SubscriptionService(
            subscriptions,
            deliveries,
            sealed,
            sink,
            clock,
            lambda: uuid.uuid4().hex,
            lambda: secrets.token_bytes(32),
        ),
        OutboxRelay(c.resolve(EventOutboxPort), fan_out.publish, clock, uuid.uuid4().hex),
        DeliveryWorker(deliveries, sealed, sink, clock, random.Random().random),  # noqa: S311 - spreads retries
    )
