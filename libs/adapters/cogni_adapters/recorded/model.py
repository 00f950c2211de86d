"""A model that replays a script and remembers what it was asked."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cogni_domain.ports.model import ModelPort
from cogni_engine import Definition, Emitter, HealthState, Message, Response
from cogni_kernel import Err, Error, HumanText, Ok, Result, TaskClass, UpstreamError

Splitter = Callable[[str], Iterable[str]]

_WORDS = re.compile(r"\s*\S+|\s+\Z")


def by_words(text: str) -> Iterable[str]:
    """Split a text as providers do, word by word; the pieces put together are the text."""
    return _WORDS.findall(text)


def by_characters(text: str) -> Iterable[str]:
    """Split a text into single code points."""
    return text


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """What one model call was sent."""

    messages: tuple[Message, ...]
    tools: tuple[Definition, ...]


class RecordedModelAdapter(ModelPort):
    """Gives one entry of the script a call, in order; an `Error` there is a call that failed.

    A call beyond the script is an UpstreamError that says so, and is not retryable.

    Args:
        script: What the model says and asks for.
        split: How the text of a response is streamed.
    """

    def __init__(self, script: Sequence[Response | Error], split: Splitter = by_words) -> None:
        self._script = tuple(script)
        self._split = split
        self._calls: list[RecordedCall] = []

    @property
    def model_version(self) -> str:
        return "recorded@1"

    @property
    def task_class(self) -> TaskClass:
        return TaskClass.CONVERSATIONAL

    def health(self) -> HealthState:
        return HealthState.HEALTHY

    def calls(self) -> tuple[RecordedCall, ...]:
        """Return what was sent, call by call."""
        return tuple(self._calls)

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        self._calls.append(RecordedCall(tuple(messages), tuple(tools)))
        number = len(self._calls)
        if number > len(self._script):
            return Err(_exhausted(number, len(self._script)))
        entry = self._script[number - 1]
        if isinstance(entry, Error):
            return Err(entry)
        if emitter is not None:
            for piece in self._split(entry.text):
                emitter.emit_token(piece)
        return Ok(entry if entry.model_used else replace(entry, model_used=self.model_version))


def _exhausted(number: int, length: int) -> UpstreamError:
    return UpstreamError(
        HumanText(f"The recorded script has {length} answers and was asked for number {number}."),
        retryable=False,
    )
