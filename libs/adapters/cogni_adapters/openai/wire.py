"""Messages and tools in the shape of chat completions."""

import base64
from collections.abc import Sequence

from cogni_engine import Definition, ImagePart, Message, Role


def to_body(
    model: str, messages: Sequence[Message], tools: Sequence[Definition], *, asks_usage: bool
) -> dict[str, object]:
    """Return the body of a streamed request."""
    body: dict[str, object] = {
        "model": model,
        "messages": [_message(message) for message in messages],
        "stream": True,
    }
    if tools:
        body["tools"] = [{"type": "function", "function": tool.to_wire()} for tool in tools]
    if asks_usage:
        body["stream_options"] = {"include_usage": True}
    return body


def _message(message: Message) -> dict[str, object]:
    found: dict[str, object] = {"role": message.role.value, "content": _content(message)}
    if message.tool_calls:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.role is Role.TOOL:
        found["tool_call_id"] = message.tool_call_id
    return found


def _content(message: Message) -> object:
    """Return one text; pictures stand beside it as data, and a message that only calls has nothing to say."""
    if message.tool_calls and not message.text:
        return None
    if isinstance(message.content, str):
        return message.content
    images = [_image(part) for part in message.content if isinstance(part, ImagePart)]
    if not images:
        return message.text
    return [*([{"type": "text", "text": message.text}] if message.text else []), *images]


def _image(part: ImagePart) -> dict[str, object]:
    data = base64.b64encode(part.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}
