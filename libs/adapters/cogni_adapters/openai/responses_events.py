"""The events of OpenAI's responses, as the chunks that the parser knows."""

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

_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}


class ResponsesEvents:
    """Translates the events of one answer, or an answer that came whole.

    A call's pieces are told apart by the item that they belong to; where a server leaves its id out, by their
    place in the output. What a call's end says is taken where nothing was said before it.
    """

    def __init__(self) -> None:
        self._slots: dict[str | int, int] = {}
        self._argued: set[int] = set()
        self._calls = 0
        self._has_said = False
        self._kinds: Mapping[str, Callable[[Event], Iterable[Event]]] = {
            "response.output_text.delta": self._said,
            "response.refusal.delta": self._said,
            "response.output_item.added": self._item,
            "response.output_item.done": self._item_done,
            "response.function_call_arguments.delta": self._argument,
            "response.created": self._created,
            "response.completed": self._over,
            "response.incomplete": self._over,
            "response.failed": self._over,
            "error": self._error,
        }

    def __call__(self, event: Event) -> Iterable[Event]:
        """Return the chunks of one event."""
        kind = event.get("type")
        if kind is None and event.get("object") == "response":
            return self._over(event)
        read = self._kinds.get(kind) if isinstance(kind, str) else None
        return read(event) if read else ()

    def _said(self, event: Event) -> Iterable[Event]:
        self._has_said = True
        return (said(text_in(event.get("delta"))),)

    def _item(self, event: Event) -> Iterable[Event]:
        item = object_in(event, "item")
        if item.get("type") == "function_call":
            return self._begun(event, item)
        if item.get("type") == "message" and self._has_said:
            return (said(PARAGRAPH),)
        return ()

    def _item_done(self, event: Event) -> Iterable[Event]:
        item = object_in(event, "item")
        if item.get("type") != "function_call":
            return ()
        slot = self._slot(item.get("id"), event)
        return self._begun(event, item) if slot is None else self._argued_with(slot, item)

    def _begun(self, event: Event, item: Event) -> Iterable[Event]:
        slot, self._calls = self._calls, self._calls + 1
        self._slots.update((name, slot) for name in _names(item.get("id"), event))
        begun = called(slot, name=item.get("name"), call_id=item.get("call_id"))
        return (begun, *self._argued_with(slot, item))

    def _argument(self, event: Event) -> Iterable[Event]:
        slot = self._slot(event.get("item_id"), event)
        if slot is None:
            return ()
        self._argued.add(slot)
        return (called(slot, arguments=text_in(event.get("delta"))),)

    def _argued_with(self, slot: int, item: Event) -> Iterable[Event]:
        """Return the arguments of an item, where no piece of them came before."""
        arguments = text_in(item.get("arguments"))
        if not arguments or slot in self._argued:
            return ()
        self._argued.add(slot)
        return (called(slot, arguments=arguments),)

    def _slot(self, item_id: object, event: Event) -> int | None:
        known = (self._slots[name] for name in _names(item_id, event) if name in self._slots)
        return next(known, None)

    def _created(self, event: Event) -> Iterable[Event]:
        return ({"model": object_in(event, "response").get("model")},)

    def _error(self, event: Event) -> Iterable[Event]:
        return ({"error": object_in(event, "error") or event},)

    def _over(self, event: Event) -> Iterator[Event]:
        """Yield how the answer ended; where nothing came before its end, all that it holds."""
        response = object_in(event, "response") or event
        if not (self._has_said or self._calls):
            yield from self._output(response)
        yield {"model": response.get("model"), "usage": response.get("usage")}
        error, status = object_in(response, "error"), response.get("status")
        if error or status == "failed":
            yield {"error": error or {"code": "failed"}}
        elif status == "completed":
            yield ended("stop")
        elif status == "incomplete":
            reason = object_in(response, "incomplete_details").get("reason")
            yield ended(_REASONS.get(str(reason), "length"))

    def _output(self, response: Event) -> Iterator[Event]:
        for number, item in enumerate(objects_in(response, "output")):
            yield from self._item({"output_index": number, "item": item})
            for part in objects_in(item, "content") if item.get("type") == "message" else ():
                self._has_said = True
                yield said(text_in(part.get("text")) + text_in(part.get("refusal")))


def _names(item_id: object, event: Event) -> list[str | int]:
    """Return what an item goes by, the surer name first."""
    index = event.get("output_index")
    by_id = [item_id] if isinstance(item_id, str) and item_id else []
    return [*by_id, index] if isinstance(index, int) else [*by_id]
