"""One HTTP/1.1 connection, held by hand: what a web server would mend is what is to go wrong here."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias, cast

from cogni_testing.providers.received import Received

_REASONS = {200: "OK", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


class Connection(asyncio.Protocol):
    """Reads requests one after another and knows when the client went away."""

    def __init__(self, answer: "Answer", lost: Callable[["Connection"], None]) -> None:
        self._answer = answer
        self._on_lost = lost
        self._buffer = bytearray()
        self._loop = asyncio.get_running_loop()
        self._answering: asyncio.Task[None] | None = None
        self._request: Received | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, _exc: Exception | None) -> None:
        request = self._request
        if request is not None and request.answered_at is None:
            request.gone_at = self._loop.time()
            request.gone.set()
        self._may_write.set()
        self._lost.set()
        self._on_lost(self)
        if self._answering is not None:
            self._answering.cancel()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send a status line and the headers."""
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Other')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        await self.raw(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def document(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        """Send a JSON document; bytes go out as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        told = {"content-type": "application/json", "content-length": str(len(data)), **headers}
        await self.head(status, told)
        await self.raw(data)
        self.over()

    async def open_stream(self) -> None:
        """Begin a stream of events."""
        kind = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self.head(200, {**kind, "transfer-encoding": "chunked"})

    async def piece(self, data: bytes) -> None:
        """Send one piece of a stream, in a packet of its own."""
        if data:
            await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def close_stream(self) -> None:
        """Say that the stream was all."""
        await self.raw(b"0\r\n\r\n")
        self.over()

    async def raw(self, data: bytes) -> None:
        """Send bytes, waiting for a client that reads slowly."""
        self._transport.write(data)
        await self._may_write.wait()

    def over(self) -> None:
        """Note that the answer is over."""
        if self._request is not None and self._request.answered_at is None:
            self._request.answered_at = self._loop.time()

    def close(self) -> None:
        """Close the connection, after what was written."""
        self.over()
        self._transport.close()

    async def end(self) -> None:
        """Stop whatever is being said, and close."""
        if self._answering is not None:
            self._answering.cancel()
        self._transport.abort()
        await self._lost.wait()

    def _next(self) -> None:
        """Answer the next request, if it is whole and the last one was answered."""
        if self._answering is not None:
            return
        request = _cut_off(self._buffer, self._loop.time())
        if request is not None:
            self._request = request
            self._answering = asyncio.ensure_future(self._answer(self, request))
            self._answering.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._answering = None
        if task.cancelled():
            return
        if task.exception() is not None or self._transport.is_closing():
            self._transport.close()
            return
        self._next()


Answer: TypeAlias = Callable[[Connection, Received], Awaitable[None]]


def _cut_off(buffer: bytearray, now_s: float) -> Received | None:
    """Take one whole request off the buffer."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in map(_parted, lines)}
    length = int(headers.get("content-length", "0"))
    if len(buffer) < end + 4 + length:
        return None
    data = bytes(buffer[end + 4 : end + 4 + length])
    del buffer[: end + 4 + length]
    method, target, _ = first.split(" ")
    return Received(method, target.partition("?")[0], headers, _body(data), now_s)


def _parted(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def _body(data: bytes) -> object:
    return json.loads(data) if data else None
