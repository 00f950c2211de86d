"""What the engine asks of a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from cogni_engine.messages import Message, ToolCall
from cogni_engine.streaming.emitter import Emitter
from cogni_engine.tool.definition import Definition
from cogni_kernel import Result, TaskClass


class HealthState(Enum):
    """How a dependency is."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DOWN = "down"


class ResponseKind(Enum):
    """What the model wants: tools, or to have answered."""

    TOOL_CALLS = "tool_calls"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Response:
    """One model call's yield, in no provider's shape.

    Attributes:
        text: What it said; for tool calls, what it said beside them.
        tool_calls: In the order asked. The loop gives an id to a call that has none or a used one.
        raw_usage: The provider's own usage record, or None where it gave none.
        model_used: The version that answered, as the provider names it.

    Raises:
        ValueError: The text is no string, or a tool call is something else.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    raw_usage: Mapping[str, object] | None = None
    model_used: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ValueError("a response's text is a string, empty where nothing was said")
        if not all(isinstance(call, ToolCall) for call in self.tool_calls):
            raise ValueError("a response's tool calls are ToolCalls")

    @property
    def kind(self) -> ResponseKind:
        """TOOL_CALLS where there are any."""
        return ResponseKind.TOOL_CALLS if self.tool_calls else ResponseKind.ANSWER


class Model(Protocol):
    """One pinned model. Cancelling `complete` must cancel the provider's work."""

    @property
    def model_version(self) -> str:
        """The explicit version, never a floating alias."""
        ...

    @property
    def task_class(self) -> TaskClass:
        """What its calls are for."""
        ...

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        """Answer, or ask for tools. With an emitter, text is emitted while it comes, or not at all.

        What is raised counts as an error that is not retryable; a cancellation passes.

        Errors:
            UpstreamError: The provider failed; `detail["retry_after_s"]` where it said when to come back.
            TimeoutError: It did not answer in time.
        """
        ...
