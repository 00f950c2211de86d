"""Messages and tools in the shape of OpenAI's responses."""

import base64
from collections.abc import Sequence

from cogni_engine import Definition, ImagePart, Message, Role


def to_body(
    model: str, messages: Sequence[Message], tools: Sequence[Definition]
) -> dict[str, object]:
    """Return the body of a streamed request; the provider is asked to keep nothing of it."""
    body: dict[str, object] = {
        "model": model,
        "input": [item for message in messages for item in _items(message)],
        "stream": True,
        "store": False,
    }
    if tools:
        body["tools"] = [{"type": "function", "strict": False, **tool.to_wire()} for tool in tools]
    return body


def _items(message: Message) -> list[dict[str, object]]:
    """Return what a message is here: calls and their outputs are items of their own, matched by call id."""
    if message.role is Role.TOOL:
        output = {"call_id": message.tool_call_id, "output": message.text}
        return [{"type": "function_call_output", **output}]
    content = _content(message)
    said = [{"type": "message", "role": message.role.value, "content": content}] if content else []
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments}
        for c in message.tool_calls
    ]
    return [*said, *calls]


def _content(message: Message) -> object:
    """Return one text; pictures stand beside it as data."""
    if isinstance(message.content, str):
        return message.content
    images = [_image(part) for part in message.content if isinstance(part, ImagePart)]
    if not images:
        return message.text
    return [*([{"type": "input_text", "text": message.text}] if message.text else []), *images]


def _image(part: ImagePart) -> dict[str, object]:
    data = base64.b64encode(part.data).decode("ascii")
    url = f"data:{part.media_type};base64,{data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}
