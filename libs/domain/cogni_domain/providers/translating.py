"""Other providers' streams, read by the one parser: their events are translated to the chunks that it knows."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from cogni_engine import ChunkParser

Event: TypeAlias = Mapping[str, object]
Translate: TypeAlias = Callable[[Event], Iterable[Event]]

PARAGRAPH = "\n\n"
"""Between two texts of one answer that the provider keeps apart."""


class TranslatingParser(ChunkParser):
    """Reads one answer in a shape of its own.

    Args:
        translate: Gives the chunks that an event stands for, none for an event of an unknown kind. It knows the
            events before it, so each answer needs a new one.
    """

    def __init__(self, translate: Translate) -> None:
        super().__init__()
        self._translate = translate

    def parse(self, chunk: Event) -> str:
        """Take one event; return its text."""
        return "".join(super(TranslatingParser, self).parse(c) for c in self._translate(chunk))


def said(text: str) -> Event:
    """Return the chunk of a piece of text."""
    return {"choices": [{"delta": {"content": text}}]}


def called(slot: int, *, name: object = "", call_id: object = "", arguments: str = "") -> Event:
    """Return the chunk of a piece of a call; `slot` counts the calls of an answer."""
    function = {"name": name, "arguments": arguments}
    call = {"index": slot, "id": call_id, "function": function}
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


def ended(reason: str | None) -> Event:
    """Return the chunk that says why an answer is over: `length` and `content_filter` are no answers."""
    return {"choices": [{"finish_reason": reason}]}


def text_in(value: object) -> str:
    """Return text, also where a server wraps it in an object."""
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def object_in(event: Event, name: str) -> Event:
    """Return what an event holds under a name, where it is an object."""
    found = event.get(name)
    return found if isinstance(found, Mapping) else {}


def objects_in(event: Event, name: str) -> list[Event]:
    """Return the objects of a list that an event holds under a name."""
    found = event.get(name)
    return [o for o in found if isinstance(o, Mapping)] if isinstance(found, list) else []
