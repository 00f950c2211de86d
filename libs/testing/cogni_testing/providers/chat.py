"""A turn in the shape of OpenAI's chat completions."""

from cogni_testing.providers.faults import EmptyIds, RepeatedUsage, SameIndex, Status
from cogni_testing.providers.frames import Frame, frame
from cogni_testing.providers.script import Finish, Turn

_REASONS = {
    Finish.STOP: "stop",
    Finish.TOOL_CALLS: "tool_calls",
    Finish.LENGTH: "length",
    Finish.WITHHELD: "content_filter",
}
_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def stream(turn: Turn) -> list[Frame]:
    """Return the events of a streamed answer; its usage comes last, in a chunk without choices."""
    found = [_chunk(turn, {"role": "assistant", "content": "" if turn.text else None})]
    found += [_chunk(turn, {"content": piece}) for piece in turn.text]
    found += [_chunk(turn, {"refusal": piece}) for piece in turn.refusal]
    for number in range(len(turn.calls)):
        found += _call(turn, number)
    found.append(_chunk(turn, {}, _REASONS[turn.finished]))
    if turn.usage is not None:
        last = {**_base(turn, "chat.completion.chunk"), "choices": [], "usage": _usage(turn.usage)}
        found.append(frame(last))
    return [*found, Frame(b"data: [DONE]\n\n")]


def whole(turn: Turn) -> dict[str, object]:
    """Return the answer as one document."""
    message: dict[str, object] = {
        "role": "assistant",
        "content": "".join(turn.text) if turn.text else None,
        "refusal": "".join(turn.refusal) or None,
    }
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": turn.call_id(number),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(turn.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _REASONS[turn.finished]}
    used = {} if turn.usage is None else {"usage": _usage(turn.usage)}
    return {**_base(turn, "chat.completion"), "choices": [choice], **used}


def error(fault: Status) -> dict[str, object]:
    """Return the body of an error."""
    told = {"message": fault.message, "type": fault.code or "error", "code": fault.code or None}
    return {"error": told}


def error_frame(code: str) -> Frame:
    """Return an error in the middle of a stream."""
    return frame({"error": {"message": "no", "type": code, "code": code}})


def _call(turn: Turn, number: int) -> list[Frame]:
    call = turn.calls[number]
    index = 0 if turn.has(SameIndex) else number
    first = {"id": turn.call_id(number), "type": "function"}
    again = {"id": ""} if turn.has(EmptyIds) else {}
    begun = {"index": index, **first, "function": {"name": call.name, "arguments": ""}}
    rest = [{"index": index, **again, "function": {"arguments": piece}} for piece in call.pieces]
    return [_chunk(turn, {"tool_calls": [fragment]}) for fragment in (begun, *rest)]


def _chunk(turn: Turn, delta: dict[str, object], reason: str | None = None) -> Frame:
    chunk = {
        **_base(turn, "chat.completion.chunk"),
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        **({"usage": _NO_USAGE} if turn.has(RepeatedUsage) else {}),
    }
    return frame(chunk, finishes=reason is not None)


def _base(turn: Turn, kind: str) -> dict[str, object]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": turn.model}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    read, written = usage
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }
