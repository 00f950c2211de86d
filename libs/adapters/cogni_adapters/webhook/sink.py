"""Events as webhooks: Standard Webhooks headers around a CloudEvents body, over a guarded network."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpcore2
from standardwebhooks import Webhook

from cogni_adapters.webhook.guard import BlockedError, GuardedNetwork, Resolve, resolve
from cogni_domain.events_outgoing import (
    Delivered,
    DeliveryOutcome,
    EndpointGone,
    NotDelivered,
    WebhookMessage,
)
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.subscriptions_endpoint import Endpoint, EndpointPolicy

TIMEOUT_S = 15.0
MAX_REPLY = 64 * 1024
CONTENT_TYPE = "application/cloudevents+json"
IDLE_CONNECTIONS = 64


class WebhookSinkAdapter(EventSinkPort):
    """One POST an attempt; the reply's status decides, its body is never kept.

    Source:
        Standard Webhooks 1.0.0; CloudEvents 1.0, structured mode.
    """

    def __init__(
        self,
        policy: EndpointPolicy,
        trusted: ssl.SSLContext | None = None,
        resolve_name: Resolve = resolve,
    ) -> None:
        """Keep connections open between attempts.

        Args:
            trusted: Whose certificates are believed; those that the machine believes where it is None.
        """
        self._policy = policy
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted or ssl.create_default_context(),
            max_connections=None,
            max_keepalive_connections=IDLE_CONNECTIONS,
            keepalive_expiry=30.0,
            network_backend=GuardedNetwork(policy, httpcore2.AnyIOBackend(), resolve_name),
        )

    def why_not(self, endpoint: Endpoint) -> str | None:
        return self._policy.why_not(endpoint)

    async def deliver(self, endpoint: Endpoint, message: WebhookMessage) -> DeliveryOutcome:
        refusal = self.why_not(endpoint)
        if refusal is not None:
            return NotDelivered(f"blocked: {refusal}")
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._post(endpoint, message)
        except BlockedError as error:
            return NotDelivered(f"blocked: {error}")
        except TimeoutError:
            return NotDelivered(f"no whole answer within {TIMEOUT_S:.0f} seconds")
        except (
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
        ) as error:
            return NotDelivered(f"not reached: {type(error).__name__}")
        except (OSError, ValueError) as error:
            return NotDelivered(f"not reached: {type(error).__name__}")

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.aclose()

    async def _post(self, endpoint: Endpoint, message: WebhookMessage) -> DeliveryOutcome:
        headers = [
            ("host", endpoint.origin.partition("://")[2]),
            ("content-type", CONTENT_TYPE),
            ("user-agent", "cogni-events/1"),
            ("webhook-id", message.id),
            ("webhook-timestamp", str(int(message.at.timestamp()))),
            ("webhook-signature", signatures(message)),
        ]
        body = message.body.encode()
        async with self._pool.stream("POST", endpoint.url, headers=headers, content=body) as reply:
            if 200 <= reply.status < 300:
                await _read_away(reply)
                return Delivered(reply.status)
            if reply.status == 410:
                return EndpointGone()
            return NotDelivered(f"answered {reply.status}", _retry_after(reply, message.at))


def signatures(message: WebhookMessage) -> str:
    """Return the value of `webhook-signature`: one signature a secret, so that either of two is enough."""
    at = message.at.astimezone(UTC)
    return " ".join(
        Webhook(secret).sign(message.id, at, message.body) for secret in message.secrets
    )


async def _read_away(reply: httpcore2.Response) -> None:
    """Read a short reply to its end, so that the connection can be used again; a long one is cut off."""
    size = 0
    async for piece in reply.aiter_stream():
        size += len(piece)
        if size > MAX_REPLY:
            return


def _retry_after(reply: httpcore2.Response, now: datetime) -> timedelta | None:
    """Return how long the endpoint asks to be left alone: seconds, or a date."""
    given = next((v for k, v in reply.headers if k.lower() == b"retry-after"), b"").decode(
        "latin-1"
    )
    if given.isascii() and given.isdigit():
        return timedelta(seconds=int(given[:9]))
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(aware - now, timedelta())
