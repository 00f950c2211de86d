"""Counters of the rim, for scraping: routes and statuses, never what was said."""

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogni_edge.problems import PRIVATE

REGISTRY = CollectorRegistry()
_REQUESTS = Counter(
    "cogni_http_requests",
    "HTTP requests by route and status.",
    ("route", "status"),
    registry=REGISTRY,
)


async def metrics(_: Request) -> Response:
    """Return every counter."""
    return Response(generate_latest(REGISTRY), 200, PRIVATE, media_type=CONTENT_TYPE_LATEST)


def counted(app: ASGIApp) -> ASGIApp:
    """Return `app`, its responses counted by the route's pattern."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = scope.get("route")
                pattern = getattr(route, "path", "none")
                _REQUESTS.labels(pattern, str(message["status"])).inc()
            await send(message)

        await app(scope, receive, noted)

    return wrapped
