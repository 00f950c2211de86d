"""The events of Anthropic's messages, as the chunks that the parser knows."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from cogni_domain.providers.translating import (
    PARAGRAPH,
    Event,
    called,
    ended,
    object_in,
    objects_in,
    said,
    text_in,
)

_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessagesEvents:
    """Translates the events of one answer, or an answer that came whole.

    What was read from the provider's cache counts as read; usage that no end completes is ABSENT.
    """

    def __init__(self) -> None:
        self._used: dict[str, object] = {}
        self._slots: dict[int, int] = {}
        self._unargued: dict[int, str] = {}
        self._calls = 0
        self._has_said = False
        self._kinds: Mapping[str, Callable[[Event], Iterable[Event]]] = {
            "message_start": self._start,
            "content_block_start": self._block,
            "content_block_delta": self._delta,
            "content_block_stop": self._block_over,
            "message_delta": self._over,
            "message": self._whole,
            "error": self._error,
        }

    def __call__(self, event: Event) -> Iterable[Event]:
        """Return the chunks of one event."""
        kind = event.get("type")
        read = self._kinds.get(kind) if isinstance(kind, str) else None
        return read(event) if read else ()

    def _start(self, event: Event) -> Iterable[Event]:
        message = object_in(event, "message")
        self._used.update(object_in(message, "usage"))
        return ({"model": message.get("model")},)

    def _block(self, event: Event) -> Iterable[Event]:
        block, index = object_in(event, "content_block"), _index(event)
        self._slots.pop(index, None)
        if block.get("type") == "tool_use":
            slot, self._calls = self._calls, self._calls + 1
            self._slots[index], self._unargued[slot] = slot, _written(block.get("input"))
            return (called(slot, name=block.get("name"), call_id=block.get("id")),)
        if block.get("type") != "text":
            return ()
        between = PARAGRAPH if self._has_said else ""
        return self._text(between + text_in(block.get("text")))

    def _delta(self, event: Event) -> Iterable[Event]:
        delta = object_in(event, "delta")
        if delta.get("type") == "text_delta":
            return self._text(text_in(delta.get("text")))
        slot = self._slots.get(_index(event))
        arguments = text_in(delta.get("partial_json"))
        if slot is None or not arguments:
            return ()
        self._unargued.pop(slot, None)
        return (called(slot, arguments=arguments),)

    def _block_over(self, event: Event) -> Iterable[Event]:
        """Return the arguments that a call began with, where none were written afterwards."""
        slot = self._slots.pop(_index(event), None)
        arguments = "" if slot is None else self._unargued.pop(slot, "")
        return (called(slot, arguments=arguments),) if slot is not None and arguments else ()

    def _text(self, text: str) -> Iterable[Event]:
        self._has_said = self._has_said or bool(text)
        return (said(text),) if text else ()

    def _over(self, event: Event) -> Iterator[Event]:
        usage, reason = object_in(event, "usage"), object_in(event, "delta").get("stop_reason")
        if "output_tokens" in usage:
            self._used.update((name, count) for name, count in usage.items() if count)
            yield {"usage": _with_all_read(self._used)}
        if isinstance(reason, str):
            yield ended(_REASONS.get(reason, reason))

    def _whole(self, message: Event) -> Iterator[Event]:
        yield from self._start({"message": message})
        for number, block in enumerate(objects_in(message, "content")):
            yield from self._block({"index": number, "content_block": block})
            yield from self._block_over({"index": number})
        yield from self._over({"delta": message, "usage": message.get("usage")})

    def _error(self, event: Event) -> Iterable[Event]:
        return ({"error": object_in(event, "error") or event},)


def _index(event: Event) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else -1


def _with_all_read(used: Event) -> dict[str, object]:
    """Return a usage record whose input is all that was read: here, what was cached is counted apart."""
    read = [count for name in _READ if isinstance(count := used.get(name), int)]
    return {**used, **({"input_tokens": sum(read)} if read else {})}


def _written(arguments: object) -> str:
    """Return arguments that came as a value as JSON; an empty object is what every call begins with."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments) if arguments else ""
