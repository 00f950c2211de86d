"""One attempt to tell an endpoint outside of an event."""

from typing import Protocol

from cogni_domain.events_outgoing import DeliveryOutcome, WebhookMessage
from cogni_domain.subscriptions_endpoint import Endpoint


class EventSinkPort(Protocol):
    """Implementations must pass `contracts.event_sink.EventSinkContract`."""

    def why_not(self, endpoint: Endpoint) -> str | None:
        """Return why nothing may ever be sent there, as far as its address says; None where it may."""
        ...

    async def deliver(self, endpoint: Endpoint, message: WebhookMessage) -> DeliveryOutcome:
        """Send once, and return what came of it; whatever goes wrong outside is an outcome.

        No connection is made to an address that `EndpointPolicy` refuses, whatever a name is said to
        resolve to. Redirects are not followed. It ends within 20 seconds.
        """
        ...
