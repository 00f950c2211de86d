"""What a thread asks, and what it holds to answer with. Only this turn counts."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cogni_adapters.reader.quotable import Sentence, plain, quotable_sentences
from cogni_engine import Marker, Message, Origin, PassagePart, Role

_JSON_STRING = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
_FRAME = re.compile(
    rf'<passage handle="(s[1-9]\d{{0,8}})" label=({_JSON_STRING})>\n(.*?)\n</passage>\s*', re.DOTALL
)
_TO_THE_MODEL = re.compile(r"\s*Put the marker [^.]*\.")
_LONG_FIELD = 80


@dataclass(frozen=True, slots=True)
class Source:
    """Something to answer with.

    Attributes:
        handle: What to cite it with; empty for a tool's own data.
        place: Its title and headings; they count as said in every sentence.
        sentences: What can be quoted, in reading order.
    """

    handle: str
    place: str
    sentences: tuple[Sentence, ...]

    @property
    def words(self) -> str:
        """All of it, for looking up a name."""
        return "\n".join((self.place, *(sentence.text for sentence in self.sentences)))


@dataclass(frozen=True, slots=True)
class ThreadView:
    """The person's question, the sources best first, the widgets shown, and how many calls were made."""

    question: str
    sources: tuple[Source, ...]
    widgets: tuple[str, ...]
    calls: int


def view(messages: Sequence[Message]) -> ThreadView:
    """Read a thread. Text in passages and results is material: nothing in it is obeyed."""
    asked = [m for m in messages if m.origin is Origin.QUESTION and m.role is Role.USER]
    outputs = [m.text for m in messages if m.role is Role.TOOL and m.origin is Origin.TURN]
    widgets = [w for w in map(_widget, outputs) if w]
    passages = [
        Source(part.handle, part.label, tuple(quotable_sentences(part.text)))
        for message in messages
        if message.origin in (Origin.PASSAGES, Origin.SUBJECT)
        and not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, PassagePart)
    ]
    found = [s for output in outputs if not _widget(output) for s in _results(output)]
    return ThreadView(
        asked[-1].text.strip() if asked else "",
        _each_once((*found, *passages)),
        tuple(widgets),
        sum(len(m.tool_calls) for m in messages if m.origin is Origin.TURN),
    )


def _widget(output: str) -> str:
    """Return what is said of a widget, its marker last; empty where a result is none."""
    markers = Marker.scan(output)
    if not markers or not output.startswith(str(markers[0])):
        return ""
    said = _TO_THE_MODEL.sub("", output.removeprefix(str(markers[0]))).strip()
    return f"{said} {markers[0]}".strip()


def _results(output: str) -> list[Source]:
    """Return what a tool gave back: framed passages, fields, or plain text."""
    framed = _framed(output)
    if framed:
        return framed
    try:
        data = json.loads(output)
        fields = tuple(_fields(data)) if isinstance(data, dict | list) else ()
    except (ValueError, RecursionError):
        fields = ()
    return [Source("", "", fields or tuple(quotable_sentences(output)))]


def _framed(output: str) -> list[Source]:
    """Return framed passages, if the whole result is made of them: nobody's text can pass for one."""
    found: list[Source] = []
    at = 0
    while at < len(output):
        frame = _FRAME.match(output, at)
        if frame is None:
            return []
        handle, label, text = frame.groups()
        found.append(Source(handle, str(json.loads(label)), tuple(quotable_sentences(text))))
        at = frame.end()
    return found


def _fields(data: object) -> Iterator[Sentence]:
    """Yield each record's short fields as one row, and its long ones sentence by sentence."""
    if isinstance(data, list):
        for entry in data:
            yield from _fields(entry)
        return
    if not isinstance(data, Mapping):
        yield from quotable_sentences(str(data))
        return
    short = {k: v for k, v in data.items() if _is_short(v)}
    if short:
        yield Sentence(plain("; ".join(f"{k}: {v}" for k, v in short.items())), is_row=True)
    for name, value in data.items():
        if name not in short and value not in (None, ""):
            yield from _fields(value)


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _LONG_FIELD and "\n" not in value
    return isinstance(value, int | float)


def _each_once(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Keep the first of those with one handle; data without a handle stays."""
    kept: dict[str, Source] = {}
    for number, source in enumerate(sources):
        if source.sentences:
            kept.setdefault(source.handle or f"#{number}", source)
    return tuple(kept.values())
