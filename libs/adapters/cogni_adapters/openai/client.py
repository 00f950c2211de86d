"""The vendor's client, as every adapter of this folder uses it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
import openai

HOME = "https://api.openai.com/v1"
CONNECT_S = 10.0
SILENCE_S = 60.0
"""Between two pieces of an answer; the whole of it is bounded by the run."""

_Stream = openai.AsyncStream[object]


def connect(
    api_key: str, base_url: str | None = None, silence_s: float = SILENCE_S
) -> openai.AsyncOpenAI:
    """Return a client whose own retries are off: what is worth another call is decided above, in one place.

    It carries bytes by aiohttp, which takes half the processor time of the client's own transport.

    Args:
        api_key: As the server wants it.
        base_url: Where the server is, `http://127.0.0.1:8000/v1`; None for OpenAI itself, whatever the
            process's environment says.
        silence_s: The longest wait for the next piece of an answer.
    """
    return openai.AsyncOpenAI(
        api_key=api_key,
        base_url=base_url or HOME,
        max_retries=0,
        http_client=openai.DefaultAioHttpClient(),
        timeout=httpx2.Timeout(silence_s, connect=min(CONNECT_S, silence_s)),
    )


class Streamed:
    """An answer under way, as bytes."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._answer = answer

    @property
    def headers(self) -> Mapping[str, str]:
        """By name, in any case."""
        return self._answer.headers

    def iter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes."""
        return self._answer.aiter_bytes()

    async def read(self) -> bytes:
        """Return the whole body."""
        return await self._answer.aread()


@asynccontextmanager
async def streamed(
    client: openai.AsyncOpenAI, path: str, body: Mapping[str, object]
) -> AsyncIterator[Streamed]:
    """Send a request as it is, and leave its answer to be read: the client would walk through every message of one
    and every piece of the other.
    """
    stream = await client.post(path, cast_to=object, body=body, stream=True, stream_cls=_Stream)
    try:
        yield Streamed(stream.response)
    finally:
        await stream.response.aclose()
