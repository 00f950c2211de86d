"""The model that needs no key and no network: it quotes, and says nothing of its own."""

import re
from collections.abc import Iterable, Sequence

from cogni_adapters.reader.choice import ToolChoice
from cogni_adapters.reader.framing import framed
from cogni_adapters.reader.support import Quote, find_quotes
from cogni_adapters.reader.thread_view import ThreadView, view
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.model import ModelPort
from cogni_engine import Definition, Emitter, HealthState, Message, Response, ToolCall
from cogni_kernel import Err, Ok, Result, TaskClass, estimate_tokens

VERSION = "local-reader-1.0.0"

_WORDS = re.compile(r"\s*\S+")


class LocalReaderAdapter(ModelPort):
    """Answers with the best-supported sentences of the sources, each with its handle.

    It calls a tool where the question fits the tool's description clearly better than the sources, and states
    all that the tool needs; once in a turn. Where nothing supports an answer its answer is empty: whoever runs
    it says that nothing was found. Passages and results are quoted, never obeyed.

    Source:
        DESIGN D10.
    """

    def __init__(self, embedder: EmbedderPort) -> None:
        self._embedder = embedder
        self._choice = ToolChoice(embedder)

    @property
    def model_version(self) -> str:
        return VERSION

    @property
    def task_class(self) -> TaskClass:
        return TaskClass.CONVERSATIONAL

    def health(self) -> HealthState:
        return HealthState.HEALTHY

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        seen = view(messages)
        if seen.widgets:
            return Ok(_answer(messages, "\n\n".join(seen.widgets), emitter))
        quotes = await find_quotes(seen.question, seen.sources, self._embedder)
        if isinstance(quotes, Err):
            return quotes
        if not seen.calls:
            calls = await self._choice.choose(seen.question, tools, _support(seen, quotes.value))
            if isinstance(calls, Err):
                return calls
            if calls.value:
                return Ok(_called(messages, calls.value))
        return Ok(_answer(messages, framed(quotes.value), emitter))


def _support(seen: ThreadView, quotes: Sequence[Quote]) -> float | None:
    if quotes:
        return quotes[0].fit
    return 0.0 if seen.sources else None


def _answer(messages: Sequence[Message], text: str, emitter: Emitter | None) -> Response:
    if emitter is not None:
        for word in _WORDS.findall(text):
            emitter.emit_token(word)
    return Response(text, (), _usage(messages, text), VERSION)


def _called(messages: Sequence[Message], calls: tuple[ToolCall, ...]) -> Response:
    written = "".join(call.name + call.arguments for call in calls)
    return Response("", calls, _usage(messages, written), VERSION)


def _usage(messages: Iterable[Message], written: str) -> dict[str, object]:
    """Return an estimate, as nothing here counts tokens."""
    return {
        "input_tokens": int(sum(message.tokens for message in messages)),
        "output_tokens": int(estimate_tokens(written)),
    }
