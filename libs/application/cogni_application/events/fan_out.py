"""From an event to a delivery for everybody who listens."""

from collections.abc import Sequence
from dataclasses import dataclass

from cogni_application.events.envelope import event_body
from cogni_domain.events_outgoing import NewDelivery, OutgoingEvent
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions import Subscription
from cogni_kernel import Err, Ok, Result


@dataclass(frozen=True, slots=True)
class FanOut:
    """Publishes within one process: what a relay calls where no broker stands between."""

    subscriptions: EventSubscriptionsPort
    deliveries: EventDeliveriesPort
    clock: ClockPort

    async def publish(self, events: Sequence[OutgoingEvent]) -> Result[None]:
        """Write what is to be delivered; doing it again adds nothing.

        Errors:
            InvalidArgumentError: An event is too large to be sent; nothing is written.
        """
        tenants = list(dict.fromkeys(event.tenant_id for event in events))
        listening = await self.subscriptions.listening(tenants)
        if isinstance(listening, Err):
            return listening
        new: list[NewDelivery] = []
        for event in events:
            wanted = [s for s in listening.value if _wants(s, event)]
            made = event_body(event)
            if isinstance(made, Err):
                return made
            new += [
                NewDelivery(s.id, s.tenant_id, event.key, event.type, made.value) for s in wanted
            ]
        added = await self.deliveries.add(new, self.clock.now()) if new else Ok(0)
        return added if isinstance(added, Err) else Ok(None)


def _wants(subscription: Subscription, event: OutgoingEvent) -> bool:
    return subscription.tenant_id == event.tenant_id and event.type in subscription.types
