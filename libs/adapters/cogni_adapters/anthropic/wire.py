"""Messages and tools in the shape of Anthropic's messages."""

import base64
import json
import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from cogni_engine import Definition, ImagePart, Message, Role, ToolCall

Block: TypeAlias = dict[str, object]

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")


def to_body(
    model: str, messages: Sequence[Message], tools: Sequence[Definition], max_tokens: int
) -> dict[str, object]:
    """Return the body of a streamed request: system text stands apart, in its order."""
    body: dict[str, object] = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": _turns(m for m in messages if m.role is not Role.SYSTEM),
        "stream": True,
    }
    system = [block for m in messages if m.role is Role.SYSTEM for block in _said(m.text)]
    if system:
        body["system"] = system
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
    return body


def _tool(tool: Definition) -> Block:
    wire = tool.to_wire()
    return {
        "name": wire["name"],
        "description": wire["description"],
        "input_schema": wire["parameters"],
    }


def _turns(messages: Iterable[Message]) -> list[dict[str, object]]:
    """Return messages whose speakers alternate: the answers to all calls of a message are one message."""
    turns: list[tuple[str, list[Block]]] = []
    for message in messages:
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        blocks = _blocks(message)
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, list(blocks)))
    return [{"role": role, "content": blocks} for role, blocks in turns]


def _blocks(message: Message) -> list[Block]:
    if message.role is Role.TOOL:
        answer: Block = {"type": "tool_result", "tool_use_id": _id(message.tool_call_id or "")}
        return [{**answer, "content": message.text} if message.text else answer]
    parts = message.content if not isinstance(message.content, str) else ()
    images = [_image(part) for part in parts if isinstance(part, ImagePart)]
    return [*_said(message.text), *images, *map(_call, message.tool_calls)]


def _said(text: str) -> list[Block]:
    """Return text as a block; one without a word is not taken."""
    return [{"type": "text", "text": text}] if text.strip() else []


def _call(call: ToolCall) -> Block:
    return {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": _input(call)}


def _input(call: ToolCall) -> object:
    """Return the arguments as the object that they must be here; what is none is quoted, never repaired."""
    try:
        found = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"not_an_object": call.arguments}


def _id(name: str) -> str:
    """Return a call's id in the letters that are taken here; another provider's may hold others."""
    return _NOT_IN_IDS.sub(lambda found: f"_{ord(found[0]):x}_", name)


def _image(part: ImagePart) -> Block:
    data = base64.b64encode(part.data).decode("ascii")
    source = {"type": "base64", "media_type": part.media_type, "data": data}
    return {"type": "image", "source": source}
