"""A provider on the loopback that says exactly what a test tells it to, byte by byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest

Reply: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]
STREAM = "text/event-stream; charset=utf-8"


@dataclass
class Provider:
    """Answers each request with the next reply, the last one again and again.

    Attributes:
        gone: Set once a client has closed its connection before the reply was over.
    """

    replies: Sequence[Reply] = ()
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    serving: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.serving.add(asyncio.create_task(self.serve(reader, writer)))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        self.heads.append(head)
        self.requests.append(json.loads(await reader.readexactly(length)))
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        answering = asyncio.ensure_future(reply(writer))
        leaving = asyncio.ensure_future(reader.read(1))
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            self.gone.set()
        for task in (answering, leaving):
            task.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


class Replies:
    """What a provider can do."""

    def chunks(self, chunks: Iterable[object], *, done: bool = True, hang: bool = False) -> Reply:
        """Stream chunks, one write each; bytes go out as they are."""

        async def reply(writer: asyncio.StreamWriter) -> None:
            _head(writer, 200, STREAM)
            for chunk in chunks:
                data = chunk if isinstance(chunk, bytes) else _event(chunk)
                writer.write(data)
                await writer.drain()
            if done:
                writer.write(b"data: [DONE]\n\n")
            await writer.drain()
            if hang:
                await asyncio.sleep(60)

        return reply

    def says(self, *pieces: str, model: str = "served-1", usage: object = None) -> Reply:
        """Stream an answer as a well-behaved provider does, its usage in the last chunk."""
        said = [
            {"model": model, "choices": [{"index": 0, "delta": {"content": piece}}]}
            for piece in pieces
        ]
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}
        return self.chunks([*said, end, {"choices": [], "usage": usage}])

    def refuses(self, status: int, error: object = None, **headers: str) -> Reply:
        """Answer with an error."""
        body = {"error": error if error is not None else {"message": "no"}}
        return self.sends(json.dumps(body).encode(), status=status, **headers)

    def sends(self, data: bytes, *, status: int = 200, **headers: str) -> Reply:
        """Answer with these bytes as JSON, whatever they are."""

        async def reply(writer: asyncio.StreamWriter) -> None:
            _head(writer, status, "application/json", **headers)
            writer.write(data)
            await writer.drain()

        return reply

    async def hangs(self, writer: asyncio.StreamWriter) -> None:
        """Take the request and never answer."""
        await asyncio.sleep(60)

    async def hangs_up(self, writer: asyncio.StreamWriter) -> None:
        """Close the connection without a word."""


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    """A provider that listens; a test sets its replies."""
    found = Provider()
    server = await asyncio.start_server(found.accept, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    yield found
    server.close()
    await asyncio.wait_for(asyncio.gather(*found.serving), 60)


@pytest.fixture
def replies() -> Replies:
    """What the provider can be told to do."""
    return Replies()


def _event(chunk: object) -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def _head(writer: asyncio.StreamWriter, status: int, content_type: str, **headers: str) -> None:
    lines = [f"HTTP/1.1 {status} X", f"content-type: {content_type}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
