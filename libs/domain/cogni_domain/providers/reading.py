"""An answer read as it comes, whichever vendor's client carries the bytes."""

import logging
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from cogni_domain.providers.failures import not_an_answer
from cogni_engine import ChunkParser, Emitter, Response
from cogni_kernel import Err, Ok, Result

MOST_LOGGED = 5

_log = logging.getLogger(__name__)


class Carried(Protocol):
    """A response under way: what the vendors' clients give where they are asked not to read it themselves."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By name, in any case."""
        ...

    def iter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes."""
        ...

    async def read(self) -> bytes:
        """Return the whole body."""
        ...


async def read_answer(
    answer: Carried, parser: ChunkParser, emitter: Emitter | None, model: str
) -> Result[Response]:
    """Read an answer to its end, emitting its text meanwhile.

    Args:
        answer: Its body is a stream of events, or one JSON document from a server that does not stream.
        parser: Knows the provider's shape; a new one for each answer.
        emitter: Is told the text.
        model: Answers, where the provider does not name the model itself.

    Errors:
        UpstreamError: The answer was cut, withheld or grew too long, or the provider said that it failed.
    """
    async for received in _pieces(answer, parser):
        _emit(emitter, parser.feed(received))
    _emit(emitter, parser.finish())
    if parser.problems:
        _log.warning("%s: %s", model, "; ".join(parser.problems[:MOST_LOGGED]))
    failed = not_an_answer(parser)
    if failed is not None:
        return Err(failed)
    return Ok(Response(parser.text, parser.tool_calls, parser.usage, parser.model or model))


async def _pieces(answer: Carried, parser: ChunkParser) -> AsyncIterator[bytes]:
    """Yield the stream as it comes; a server that does not stream sends one event.

    A connection that breaks after the answer was over has broken nothing.
    """
    if "json" in answer.headers.get("content-type", ""):
        whole = await answer.read()
        yield b"".join(b"data: %b\n" % line for line in whole.splitlines())
        return
    try:
        async for received in answer.iter_bytes():
            yield received
    except Exception:
        if not parser.is_whole:
            raise


def _emit(emitter: Emitter | None, text: str) -> None:
    if emitter is not None:
        emitter.emit_token(text)
