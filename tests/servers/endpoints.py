"""Endpoints that webhooks are posted to: each answers as a test says, and keeps what it got."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What is answered, and how badly.

    Attributes:
        after_s: How long the endpoint thinks first.
        reset: Cut the connection instead.
        drip_s: Send the body a byte at a time, so far apart.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    after_s: float = 0.0
    reset: bool = False
    drip_s: float = 0.0


Behaviour: TypeAlias = Callable[[Received], Answer]


class Endpoints:
    """One server on this machine; every path is an endpoint of its own."""

    def __init__(self, port: int, scheme: str) -> None:
        self.port = port
        self.scheme = scheme
        self.behaviours: dict[str, Behaviour] = {}
        self.received: list[Received] = []
        self.connections = 0
        self.writers: set[asyncio.StreamWriter] = set()

    def answering(self, behaviour: Behaviour | Answer, host: str = "127.0.0.1") -> str:
        """Return the address of a new endpoint that behaves so."""
        path = f"/{len(self.behaviours)}"
        self.behaviours[path] = behaviour if callable(behaviour) else lambda _: behaviour
        return f"{self.scheme}://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        self.writers.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                self.received.append(request)
                if not await _answer(writer, self.behaviours[request.path](request)):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(first.split(" ")[1], headers, body)


async def _answer(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    await asyncio.sleep(answer.after_s)
    if answer.reset:
        writer.transport.abort()
        return False
    lines = [f"HTTP/1.1 {answer.status} .", *(f"{k}: {v}" for k, v in answer.headers.items())]
    if answer.status != 204:
        lines.append(f"content-length: {len(answer.body)}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    if not answer.drip_s:
        writer.write(answer.body)
    for byte in answer.body if answer.drip_s else b"":
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(answer.drip_s)
    await writer.drain()
    return True


@asynccontextmanager
async def endpoints(
    certificate: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Endpoints]:
    """Serve until the end of the block."""
    found = Endpoints(0, "http" if certificate is None else "https")
    server = await asyncio.start_server(found.serve, host, 0, ssl=certificate, limit=2**20)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for writer in list(found.writers):
            writer.transport.abort()
        await server.wait_closed()
        await asyncio.sleep(0)
