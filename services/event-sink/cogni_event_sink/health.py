"""Whether the process lives, whether events would leave, and how long the oldest has waited."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cogni_kernel import Err, Result


@dataclass(frozen=True, slots=True)
class Health:
    """What is asked of the process.

    Attributes:
        why_not: None, or why no event would leave now.
        waiting_since: Since when the oldest event waits to be published.
        now: The time.
    """

    why_not: Callable[[], Awaitable[str | None]]
    waiting_since: Callable[[], Awaitable[Result[datetime | None]]]
    now: Callable[[], datetime]

    async def get_ready(self, _: Request) -> Response:
        """Answer 503 with the reason where no event would leave."""
        why_not = await self.why_not()
        if why_not is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready", "reason": why_not}, 503)

    async def get_metrics(self, _: Request) -> Response:
        """Return what is to be watched: one gauge."""
        registry = CollectorRegistry()
        oldest = Gauge(
            "cogni_outbox_oldest_seconds",
            "How long the oldest event has waited to be published",
            registry=registry,
        )
        since = await self.waiting_since()
        if isinstance(since, Err):
            return Response(status_code=503)
        if since.value is not None:
            oldest.set((self.now() - since.value).total_seconds())
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


async def _healthy(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


def health_app(health: Health) -> Starlette:
    """Return the HTTP application of this process."""
    return Starlette(
        routes=[
            Route("/healthz", _healthy),
            Route("/readyz", health.get_ready),
            Route("/metrics", health.get_metrics),
        ]
    )
