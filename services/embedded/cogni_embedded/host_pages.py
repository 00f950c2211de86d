"""The demo company's intranet, served beside the product on an origin of its own: the next port."""

import asyncio
import contextlib
import ipaddress
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cogni_acme.host import LeaveAccounts
from cogni_acme.host_site.frame import Mount
from cogni_acme.host_site.site import STYLE, HostSite
from cogni_acme.people import Person
from cogni_acme.request_desk import RequestDesk
from cogni_domain.access.directory import Account
from cogni_edge.server import EdgeServer, listen
from cogni_embedded.bootstrap import Product
from cogni_embedded.demo import Demo
from cogni_embedded.host_token import signed_token
from cogni_kernel import Err, Result

TOKEN_LIFETIME = timedelta(minutes=5)
COOKIE = "person"
MAX_FORM = 4096
_LAST_PORT = 65535

Sign = Callable[[Account], Awaitable[Result[str]]]


@contextlib.asynccontextmanager
async def host_pages(
    product: Product, address: str, beside: socket.socket, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Serve the intranet while the product runs; where that is not possible, say so and do without.

    Args:
        address: Where this machine reaches the product.
        beside: The product's own socket.
    """
    host = urlsplit(address).hostname or ""
    port = beside.getsockname()[1] + 1
    if not ipaddress.ip_address(host).is_loopback:
        say(
            "The demo intranet is not started: it signs people in unasked, so it stays on loopback."
        )
        yield
        return
    listening = _listen(host, port)
    if listening is None:
        say(f"The demo intranet is not started: port {port} is not free.")
        yield
        return

    def sign(account: Account) -> Awaitable[Result[str]]:
        return signed_token(product, account, TOKEN_LIFETIME)

    server = _ServerBeside(host_app(site_of(product.demo), address, sign), _nothing_to_drain)
    serving = asyncio.create_task(server.serve([listening]))
    say(f"The demo intranet is at {_with_port(address, port)}")
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def site_of(demo: Demo) -> HostSite:
    """Return the intranet over the same systems that the assistant's tools use."""
    desk, accounts = demo.resources[RequestDesk], demo.resources[LeaveAccounts]
    assert isinstance(desk, RequestDesk)
    assert isinstance(accounts, LeaveAccounts)
    return HostSite(demo.people, demo.intranets, desk, accounts)


def host_app(site: HostSite, product: str, sign: Sign) -> Starlette:
    """Return the application.

    Args:
        product: The origin that serves the product.
        sign: Makes a host token for an account.
    """
    pages = _HostPages(site, product, sign)
    routes = [
        Route("/person", pages.switch, methods=["POST"]),
        Route("/host-token", pages.token),
        Route("/site.css", _style),
        Route("/{path:path}", pages.page),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(_LoopbackAlone)
    return app


class _HostPages:
    def __init__(self, site: HostSite, product: str, sign: Sign) -> None:
        self._site = site
        self._product = product
        self._sign = sign

    async def page(self, request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        mount = Mount(self._product, nonce)
        status, document = self._site.respond(request.url.path, self._person(request), mount)
        policy = _POLICY.format(product=self._product, nonce=nonce)
        headers = {**_HEADERS, "Content-Security-Policy": policy}
        return HTMLResponse(document, status, headers)

    async def token(self, request: Request) -> Response:
        """Return a host token for the person of the cookie, to this site's own pages alone."""
        if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return PlainTextResponse("For this site's pages alone.", 403, _HEADERS)
        signed = await self._sign(self._person(request).account)
        if isinstance(signed, Err):
            return PlainTextResponse(str(signed.error.message), 503, _HEADERS)
        return PlainTextResponse(signed.value, headers=_HEADERS)

    async def switch(self, request: Request) -> Response:
        """Become another person of the demo, and go back to where the picker was."""
        form = await _form(request)
        person = self._site.person(form.get(COOKIE))
        headers = {**_HEADERS, "Location": _local(form.get("next", ""))}
        response = Response(status_code=303, headers=headers)
        response.set_cookie(COOKIE, str(person.account.id), httponly=True, samesite="lax")
        return response

    def _person(self, request: Request) -> Person:
        return self._site.person(request.cookies.get(COOKIE))


class _LoopbackAlone:
    """Answers this machine alone, and by its local names alone: not by one that a stranger made point here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_local(Request(scope)):
            await self._app(scope, receive, send)
            return
        refused = PlainTextResponse("The demo intranet answers on loopback alone.", 403, _HEADERS)
        await refused(scope, receive, send)


def _is_local(request: Request) -> bool:
    named = _loopback(request.url.hostname or "")
    return named and request.client is not None and _loopback(request.client.host)


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _style(_: Request) -> Response:
    return FileResponse(STYLE, media_type="text/css", headers={"Cache-Control": "no-cache"})


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a small form; one that is too large has none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            return {}
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}


def _local(target: str) -> str:
    """Return a path of this site; what leads anywhere else becomes the start page."""
    is_path = target.startswith("/") and target.isascii() and target.isprintable()
    return target if is_path and not target.startswith("//") and "\\" not in target else "/"


def _listen(host: str, port: int) -> socket.socket | None:
    if port > _LAST_PORT:
        return None
    listening = listen(host, port)
    return None if isinstance(listening, Err) else listening.value


def _with_port(address: str, port: int) -> str:
    return f"{address.rpartition(':')[0]}:{port}"


async def _nothing_to_drain() -> None:
    return


class _ServerBeside(EdgeServer):
    """Leaves the signals to the product's server, which ends this one."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src {product}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
