"""The web server around the application: patient with nobody, and with last words for every run."""

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from cogni_kernel import ConflictError, Err, Error, HumanText, InvalidArgumentError, Ok, Result

HEADERS_S = 10.0
MAX_HEADERS = 32 * 1024
MAX_MESSAGE = 32 * 1024
"""Bytes of a message over a WebSocket: readers send one, with their token."""

UNREAD_MS = 60_000
"""A reader that takes nothing for so long is cut off; its run goes on."""

GRACE_S = 10
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def listen(host: str, port: int) -> Result[socket.socket]:
    """Return a socket that listens.

    Errors:
        ConflictError: The port is in use.
        InvalidArgumentError: There is no such host here, or this port is not for everybody.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, proto)
    except (OSError, UnicodeError) as error:
        return Err(_cannot_listen(host, port, error))
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        return Err(_cannot_listen(host, port, error))
    listening.setblocking(False)
    return Ok(listening)


def _cannot_listen(host: str, port: int, error: Exception) -> Error:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        text = f"Port {port} on {host} is in use. Stop what uses it, or name another with --port."
        return ConflictError(HumanText(text))
    reason = error.strerror if isinstance(error, OSError) else "this is no name of a host"
    return InvalidArgumentError(HumanText(f"Cannot listen on {host}, port {port}: {reason}."))


class EdgeServer(uvicorn.Server):
    """Serves until SIGINT or SIGTERM; `drain` then ends what runs, before any stream is closed."""

    def __init__(self, app: ASGIApp, drain: Callable[[], Awaitable[None]]) -> None:
        config = uvicorn.Config(
            app,
            http=_ImpatientProtocol,
            ws="websockets-sansio",
            ws_max_size=MAX_MESSAGE,
            ws_per_message_deflate=False,
            log_level="error",
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=MAX_HEADERS,
            timeout_graceful_shutdown=GRACE_S,
        )
        super().__init__(config)
        self._drain = drain

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._drain()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End with the status of a process that did what it was told, not of one that was killed."""
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _ImpatientProtocol(H11Protocol):
    """Gives a client `HEADERS_S` to say what it wants, counted from its connection or its first byte."""

    _deadline: asyncio.TimerHandle | None = None
    _is_upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEADERS_S, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_upgraded or not self._is_waiting():
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADERS_S, self._give_up)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._is_upgraded = True
        self._cancel()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; where its headers were good, whoever works on it hears no more."""
        if not self._is_waiting():
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # an answer has begun already
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self._is_waiting() and not self.transport.is_closing():
            self.transport.write(_TOO_SLOW)
            self.transport.close()
