"""A turn in the shape of Anthropic's messages."""

import json
from collections.abc import Iterator

from cogni_testing.providers.faults import RepeatedUsage, SameIndex, Status
from cogni_testing.providers.frames import Frame, frame
from cogni_testing.providers.script import Finish, ScriptedCall, Turn

_REASONS = {
    Finish.STOP: "end_turn",
    Finish.TOOL_CALLS: "tool_use",
    Finish.LENGTH: "max_tokens",
    Finish.WITHHELD: "refusal",
}
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def stream(turn: Turn) -> list[Frame]:
    """Return the events of a streamed answer: what was read is in the first, what was written near the end.

    A refusal is text whose end says that it was one. Ids are given once, so none can be empty later.
    """
    first = {**_message(turn), "content": [], "stop_reason": None}
    if turn.usage is not None:
        first["usage"] = _usage(0, 0) if turn.has(RepeatedUsage) else _usage(turn.usage[0], 1)
    found = [_event({"type": "message_start", "message": first}), _event({"type": "ping"})]
    for index, (begun, deltas) in enumerate(_blocks(turn)):
        shown = 0 if turn.has(SameIndex) else index
        found.append(_event(_at("content_block_start", shown, content_block=begun)))
        found += [_event(_at("content_block_delta", shown, delta=delta)) for delta in deltas]
        found.append(_event(_at("content_block_stop", shown)))
    ended = {"stop_reason": _reason(turn), "stop_sequence": None}
    last: dict[str, object] = {"type": "message_delta", "delta": ended}
    if turn.usage is not None:
        read, written = turn.usage
        last["usage"] = (
            _usage(read, written) if turn.has(RepeatedUsage) else {"output_tokens": written}
        )
    found.append(_event(last, finishes=True))
    return [*found, _event({"type": "message_stop"})]


def whole(turn: Turn) -> dict[str, object]:
    """Return the answer as one document."""
    said = "".join((*turn.text, *turn.refusal))
    used = {} if turn.usage is None else {"usage": _usage(*turn.usage)}
    content: list[dict[str, object]] = [{"type": "text", "text": said}] if said else []
    content += [{**_called(turn, n), "input": _input(call)} for n, call in enumerate(turn.calls)]
    return {**_message(turn), "content": content, "stop_reason": _reason(turn), **used}


def error(fault: Status) -> dict[str, object]:
    """Return the body of an error."""
    kind = fault.code or _KINDS.get(fault.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": fault.message}}


def error_frame(code: str) -> Frame:
    """Return an error in the middle of a stream."""
    return _event({"type": "error", "error": {"type": code, "message": "no"}}, finishes=True)


def _blocks(turn: Turn) -> Iterator[tuple[dict[str, object], list[dict[str, object]]]]:
    """Yield each block as it begins, and its deltas."""
    pieces = (*turn.text, *turn.refusal)
    if pieces:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces]
    for number, call in enumerate(turn.calls):
        deltas: list[dict[str, object]] = [
            {"type": "input_json_delta", "partial_json": p} for p in call.pieces
        ]
        yield _called(turn, number), deltas


def _called(turn: Turn, number: int) -> dict[str, object]:
    name = turn.calls[number].name
    return {"type": "tool_use", "id": turn.call_id(number), "name": name, "input": {}}


def _input(call: ScriptedCall) -> object:
    """Return arguments as the value that they are, and as text where they are none."""
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:
        return call.arguments


def _reason(turn: Turn) -> str:
    return "refusal" if turn.refusal else _REASONS[turn.finished]


def _message(turn: Turn) -> dict[str, object]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "stop_sequence": None,
    }


def _usage(read: int, written: int) -> dict[str, object]:
    return {
        "input_tokens": read,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": written,
    }


def _at(kind: str, index: int, **more: object) -> dict[str, object]:
    return {"type": kind, "index": index, **more}


def _event(data: dict[str, object], *, finishes: bool = False) -> Frame:
    return frame(data, str(data["type"]), finishes=finishes)
