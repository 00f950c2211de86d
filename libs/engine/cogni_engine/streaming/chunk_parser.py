"""What providers stream, put together. Nobody above knows their shapes."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cogni_engine.messages import ToolCall
from cogni_engine.streaming.event_lines import EventLines
from cogni_kernel import encodable

_DONE = b"[DONE]"
_SHORT = 64
_OBJECT = (dict, Mapping)
"""What a JSON object is; the class that it nearly always has is asked for first."""


@dataclass
class ChunkParser:
    """Reads one streamed answer in the chat-completions shape.

    The result is the same however the stream was cut into pieces. A chunk that cannot be read is passed over
    and described; the rest is kept. Who speaks is never read from the stream: it is always the model.

    Attributes:
        model: The model that answers, as the provider names it; empty where it does not.
        usage: The provider's own usage record, None where it gave none.
        finish_reason: The provider's own word, None while it has not said that the answer is over.
        error: What the provider said went wrong, in the middle of its stream.
        problems: What could not be read, in short; they hold no text of the answer.

    Source:
        COGNI.BUILD spec, package engine, "ChunkParser".
    """

    model: str = ""
    usage: Mapping[str, object] | None = None
    finish_reason: str | None = None
    error: Mapping[str, object] | None = None
    problems: list[str] = field(default_factory=list)
    _lines: EventLines = field(default_factory=EventLines)
    _text: list[str] = field(default_factory=list)
    _calls: list["_Call"] = field(default_factory=list)
    _half: str = ""
    _done: bool = False
    _has_lost: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the provider said that the answer is over; a stream that was cut never does."""
        return self._done or self.finish_reason is not None

    @property
    def is_doubtful(self) -> bool:
        """Whether a lost chunk may change what is done: arguments can be valid without it and mean something else."""
        return self._has_lost and (bool(self._calls) or not self.text)

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What was called so far, in the order begun, each with an id of its own; a call has a name."""
        return _with_ids(call for call in self._calls if call.name)

    def feed(self, received: bytes) -> str:
        """Take bytes of the stream; return the text for the person that they completed."""
        return self._events(self._lines.feed(received))

    def finish(self) -> str:
        """Take the end of the stream; return the text that was still held."""
        text = self._events(self._lines.finish())
        self.problems += ["an event beyond the limit"] * self._lines.dropped
        nameless = [c for c in self._calls if not c.name]
        self.problems += ["a tool call without a name"] * len(nameless)
        self._has_lost = self._has_lost or bool(self._lines.dropped or nameless)
        self.problems += ["half a character at the end"] * bool(self._half)
        return text

    def parse(self, chunk: Mapping[str, object]) -> str:
        """Take one chunk; return its text. Usage is read first: the last chunk has no choices."""
        if (usage := chunk.get("usage")) is not None:
            self.usage = _better(self.usage, usage)
        if isinstance(model := chunk.get("model"), str) and model != self.model:
            self.model = encodable(model) or self.model
        if (error := chunk.get("error")) is not None and isinstance(error, _OBJECT):
            self.error = {k: encodable(v) if isinstance(v, str) else v for k, v in error.items()}
        choice = _first_choice(chunk.get("choices"))
        if isinstance(reason := choice.get("finish_reason"), str):
            self.finish_reason = encodable(reason)
        said = choice.get("delta") or choice.get("message")
        return self._said(said) if isinstance(said, _OBJECT) else ""

    def accumulate_tool_call(self, fragment: Mapping[str, object]) -> None:
        """Take one fragment of a call: joined by its index, whatever stands in its id."""
        index, named = _index(fragment.get("index")), encodable(_text_of(fragment.get("id")))
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        name = encodable(_text_of(function.get("name")))
        call = self._call(index, named, name)
        call.id = call.id or named
        call.name += name if name != call.name else ""
        call.arguments.append(_arguments(function.get("arguments")))

    def _events(self, events: Iterable[bytes]) -> str:
        return "".join(map(self._event, events))

    def _event(self, data: bytes) -> str:
        if len(data) < _SHORT and data.strip() == _DONE:
            self._done = True
            return ""
        try:
            chunk = json.loads(data.decode("utf-8"))
            if isinstance(chunk, dict):
                return self.parse(chunk)
        except (ValueError, RecursionError) as wrong:
            return self._lost(f"a chunk of {len(data)} bytes: {type(wrong).__name__}")
        return self._lost(f"a chunk that is a {type(chunk).__name__}")

    def _lost(self, problem: str) -> str:
        """Note that a chunk cannot be read; no text comes of it."""
        self.problems.append(problem)
        self._has_lost = True
        return ""

    def _said(self, message: Mapping[str, object]) -> str:
        calls = message.get("tool_calls")
        for fragment in calls if isinstance(calls, list) else ():
            if isinstance(fragment, _OBJECT):
                self.accumulate_tool_call(fragment)
        text = _content(message.get("content"))
        if (refusal := message.get("refusal")) is not None:
            text += _text_of(refusal)
        return self._say(text)

    def _say(self, text: str) -> str:
        """Keep text and return it; the first half of a surrogate pair waits for the second."""
        if not self._half and text.isascii():
            self._text.append(text)
            return text
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = encodable(text.removesuffix(self._half))
        self._text.append(text)
        return text

    def _call(self, index: object, named: str, name: str) -> "_Call":
        """Find the call that a fragment goes on, or begin one.

        Servers that leave out the index, or count every call as 0, begin a call with another id and a name, or
        with another name where arguments came already.
        """
        begun = self._calls if index is None else [c for c in self._calls if c.index == index]
        known = [c for c in begun if named and c.id == named]
        if known:
            return known[-1]
        if begun and not begun[-1].is_followed_by(named, name):
            return begun[-1]
        self._calls.append(_Call(index))
        return self._calls[-1]


@dataclass
class _Call:
    index: object
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def is_followed_by(self, named: str, name: str) -> bool:
        """Tell whether an id that is not this call's, or a name, begins another call."""
        if named and name and self.id:
            return True
        return bool(name) and name != self.name and any(self.arguments)


def _with_ids(calls: Iterable[_Call]) -> tuple[ToolCall, ...]:
    """Return the calls in the order in which they began, each with an id of its own."""
    taken: set[str] = set()
    found: list[ToolCall] = []
    for number, call in enumerate(calls):
        name = call.id if call.id and call.id not in taken else f"call_{number}"
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(ToolCall(name, call.name, encodable("".join(call.arguments))))
    return tuple(found)


def _index(written: object) -> object:
    """Return what tells calls apart; what is equal to nothing, like NaN, tells nothing."""
    return written if isinstance(written, int | str) else None


def _first_choice(choices: object) -> Mapping[str, object]:
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, _OBJECT) and _index(choice.get("index")) in (0, None):
            return choice
    return {}


def _better(known: Mapping[str, object] | None, new: object) -> Mapping[str, object] | None:
    """Return the newest usage that says something: empty records before and after it do not count."""
    if not isinstance(new, Mapping):
        return known
    says = any(isinstance(value, int) and value > 0 for value in new.values())
    return new if says or known is None else known


def _content(content: object) -> str:
    """Return text, also where it comes as a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_text_of(p.get("text")) for p in content if isinstance(p, Mapping))
    return _text_of(content)


def _arguments(written: object) -> str:
    """Return arguments as JSON text, also where a server sends them as an object."""
    return json.dumps(written) if isinstance(written, Mapping) else _text_of(written)


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
