"""What is said in a thread: immutable messages of text or parts."""

import json
import re
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from cogni_kernel import ModelFacingText, Text, TokenCount, estimate_tokens


class Role(Enum):
    """Who speaks, in the words that every provider knows."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Origin(Enum):
    """Why a message is in the thread; decides what may be trimmed."""

    INSTRUCTION = "instruction"
    HISTORY = "history"
    PASSAGES = "passages"
    SUBJECT = "subject"
    QUESTION = "question"
    TURN = "turn"


class ContentKind(Enum):
    """Whether a message is plain text or parts."""

    TEXT = "text"
    PARTS = "parts"


@dataclass(frozen=True, slots=True)
class TextPart:
    """A run of text."""

    text: str


@dataclass(frozen=True, slots=True)
class PassagePart:
    """Retrieved content, labelled as content: never an instruction.

    Attributes:
        handle: The token to cite it with, `s1`.
        label: Its title and place, for a person.
        text: The passage.
    """

    handle: str
    label: str
    text: str

    def as_content(self) -> str:
        """Return the passage in the frame that tells the model it is quoted material."""
        label = json.dumps(_quoted(self.label), ensure_ascii=False)
        return f'<passage handle="{self.handle}" label={label}>\n{_quoted(self.text)}\n</passage>'


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture: `media_type` like image/png, and its bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """A file that a person added, as its extracted text."""

    name: str
    media_type: str
    text: str


Part: TypeAlias = TextPart | PassagePart | ImagePart | AttachmentPart

IMAGE_TOKENS = 800
_FRAME = re.compile(r"<(?=\s*/?\s*(?:passage|attachment)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asked for; `arguments` is its JSON exactly as written.

    Raises:
        ValueError: A part is no string.
    """

    id: str
    name: str
    arguments: str

    def __post_init__(self) -> None:
        if not all(isinstance(part, str) for part in (self.id, self.name, self.arguments)):
            raise ValueError(
                "a call's id, name and arguments are strings, empty where there is none"
            )


@dataclass(frozen=True)
class Message:
    """One message. Its wire form is computed once, however often it is sent.

    Source:
        COGNI.BUILD spec, package engine, "Message".
    """

    role: Role
    content: str | tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    model: str | None = None
    origin: Origin = Origin.TURN

    def __post_init__(self) -> None:
        if (self.role is Role.TOOL) != (self.tool_call_id is not None):
            raise ValueError("a tool message answers a call id, and only a tool message does")
        if self.tool_calls and self.role is not Role.ASSISTANT:
            raise ValueError("only an assistant message calls tools")

    @staticmethod
    def system(text: ModelFacingText) -> "Message":
        """Return an instruction."""
        return Message(Role.SYSTEM, str(text), origin=Origin.INSTRUCTION)

    @staticmethod
    def user(content: Text | tuple[Part, ...], origin: Origin = Origin.QUESTION) -> "Message":
        """Return what the person said, or material put beside it."""
        return Message(
            Role.USER, str(content) if isinstance(content, Text) else content, origin=origin
        )

    @staticmethod
    def assistant(
        content: str, tool_calls: tuple[ToolCall, ...] = (), model: str | None = None
    ) -> "Message":
        """Return what the model answered."""
        return Message(Role.ASSISTANT, content, tool_calls, model=model)

    @staticmethod
    def tool(output: ModelFacingText, tool_call_id: str) -> "Message":
        """Return the answer to one call id."""
        return Message(Role.TOOL, str(output), tool_call_id=tool_call_id)

    def as_history(self) -> "Message":
        """Return this message as part of an earlier turn, which may be trimmed."""
        return replace(self, origin=Origin.HISTORY)

    @property
    def content_kind(self) -> ContentKind:
        """Whether `content` is a string or parts."""
        return ContentKind.TEXT if isinstance(self.content, str) else ContentKind.PARTS

    @cached_property
    def text(self) -> str:
        """The content as one string; passages framed as content, pictures left out."""
        if isinstance(self.content, str):
            return self.content
        return "\n\n".join(filter(None, map(_part_text, self.content)))

    @cached_property
    def wire(self) -> dict[str, object]:
        """The provider-neutral form: role, content, tool_calls, tool_call_id."""
        found: dict[str, object] = {"role": self.role.value, "content": self.text}
        if self.tool_calls:
            found["tool_calls"] = [
                {"id": c.id, "name": c.name, "arguments": c.arguments} for c in self.tool_calls
            ]
        if self.tool_call_id is not None:
            found["tool_call_id"] = self.tool_call_id
        return found

    @cached_property
    def tokens(self) -> TokenCount:
        """An estimate of what it costs to send."""
        calls = sum(estimate_tokens(c.name + c.arguments) for c in self.tool_calls)
        images = 0
        if not isinstance(self.content, str):
            images = IMAGE_TOKENS * sum(isinstance(p, ImagePart) for p in self.content)
        return TokenCount(estimate_tokens(self.text) + calls + images + 4)


def _part_text(part: Part) -> str:
    match part:
        case TextPart(text):
            return text
        case PassagePart():
            return part.as_content()
        case AttachmentPart(name, _, text):
            label = json.dumps(_quoted(name), ensure_ascii=False)
            return f"<attachment name={label}>\n{_quoted(text)}\n</attachment>"
    return ""


def _quoted(text: str) -> str:
    """Return material that can neither close its frame nor open another."""
    return _FRAME.sub("&lt;", text)
