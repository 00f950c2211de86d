"""A turn in the shape of OpenAI's responses."""

from collections.abc import Iterator
from typing import TypeAlias

from cogni_testing.providers.faults import EmptyIds, RepeatedUsage, SameIndex, Status
from cogni_testing.providers.frames import Frame, frame
from cogni_testing.providers.script import Finish, Turn

Event: TypeAlias = tuple[str, dict[str, object]]

_INCOMPLETE = {Finish.LENGTH: "max_output_tokens", Finish.WITHHELD: "content_filter"}


def stream(turn: Turn) -> list[Frame]:
    """Return the events of a streamed answer, numbered; the last one holds all of it, and its usage."""
    last = "response.incomplete" if turn.finished in _INCOMPLETE else "response.completed"
    begun = _response(turn, "in_progress", [])
    events: list[Event] = [
        (f"response.{k}", {"response": begun}) for k in ("created", "in_progress")
    ]
    if turn.text or turn.refusal:
        events += _message(turn)
    for number in range(len(turn.calls)):
        events += _call(turn, number)
    events.append((last, {"response": whole(turn)}))
    return [
        frame({"type": kind, "sequence_number": n, **data}, kind, finishes=kind == last)
        for n, (kind, data) in enumerate(events)
    ]


def whole(turn: Turn) -> dict[str, object]:
    """Return the answer as one document."""
    said = [_item(turn)] if turn.text or turn.refusal else []
    called = [_called(turn, number, "completed") for number in range(len(turn.calls))]
    status = "incomplete" if turn.finished in _INCOMPLETE else "completed"
    return _response(turn, status, [*said, *called])


def error(fault: Status) -> dict[str, object]:
    """Return the body of an error."""
    told = {"message": fault.message, "type": fault.code or "error", "code": fault.code or None}
    return {"error": {**told, "param": None}}


def error_frame(code: str) -> Frame:
    """Return an error in the middle of a stream."""
    told = {"type": "error", "code": code, "message": "no", "param": None, "sequence_number": 1}
    return frame(told, "error", finishes=True)


def _message(turn: Turn) -> Iterator[Event]:
    item = {**_item(turn), "status": "in_progress", "content": []}
    yield "response.output_item.added", {"output_index": 0, "item": item}
    for number, part in enumerate(_parts(turn)):
        at = {"item_id": "msg_1", "output_index": 0, "content_index": number}
        is_text = part["type"] == "output_text"
        kind, key = ("output_text", "text") if is_text else ("refusal", "refusal")
        more: dict[str, object] = {"logprobs": []} if is_text else {}
        yield "response.content_part.added", {**at, "part": {**part, key: ""}}
        for piece in turn.text if is_text else turn.refusal:
            yield f"response.{kind}.delta", {**at, "delta": piece, **more}
        yield f"response.{kind}.done", {**at, key: part[key], **more}
        yield "response.content_part.done", {**at, "part": part}
    yield "response.output_item.done", {"output_index": 0, "item": _item(turn)}


def _call(turn: Turn, number: int) -> Iterator[Event]:
    call, index = turn.calls[number], _index(turn, number)
    begun = {"output_index": index, "item": _called(turn, number, "in_progress")}
    yield "response.output_item.added", begun
    at = {"item_id": "" if turn.has(EmptyIds) else f"fc_{number + 1}", "output_index": index}
    for piece in call.pieces:
        yield "response.function_call_arguments.delta", {**at, "delta": piece}
    done = {**at, "name": call.name, "arguments": call.arguments}
    yield "response.function_call_arguments.done", done
    ended = {"output_index": index, "item": _called(turn, number, "completed")}
    yield "response.output_item.done", ended


def _index(turn: Turn, number: int) -> int:
    first = 1 if turn.text or turn.refusal else 0
    return first if turn.has(SameIndex) else first + number


def _item(turn: Turn) -> dict[str, object]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": _parts(turn),
    }


def _parts(turn: Turn) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    if turn.text:
        text = "".join(turn.text)
        found.append({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
    if turn.refusal:
        found.append({"type": "refusal", "refusal": "".join(turn.refusal)})
    return found


def _called(turn: Turn, number: int, status: str) -> dict[str, object]:
    return {
        "id": f"fc_{number + 1}",
        "type": "function_call",
        "status": status,
        "call_id": turn.call_id(number),
        "name": turn.calls[number].name,
        "arguments": turn.calls[number].arguments if status == "completed" else "",
    }


def _response(turn: Turn, status: str, output: list[dict[str, object]]) -> dict[str, object]:
    reason = _INCOMPLETE.get(turn.finished) if status == "incomplete" else None
    usage = None if turn.usage is None or status == "in_progress" else _usage(*turn.usage)
    if status == "in_progress" and turn.has(RepeatedUsage):
        usage = _usage(0, 0)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "model": turn.model,
        "output": output,
        "usage": usage,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
    }


def _usage(read: int, written: int) -> dict[str, object]:
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
