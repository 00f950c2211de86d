"""What a run did, step by step, for its record."""

from dataclasses import dataclass
from typing import TypeAlias

from cogni_kernel import Usage


@dataclass(frozen=True, slots=True)
class ModelCallStep:
    """One model call.

    `model_version` is the model that answered, as its provider names it, else the one that was asked; `error` is
    the error's code where it failed, `detail` what broke, for the record alone.
    """

    model_version: str
    usage: Usage
    tool_calls: int
    error: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallStep:
    """One tool call that ran, or was answered without running.

    `error` is the code where it failed, `detail` what broke, for the record alone.
    """

    call_id: str
    tool_name: str
    tool_version: str
    arguments: str
    execution_time_s: float
    error: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusalStep:
    """A call of a tool that was not offered."""

    call_id: str
    tool_name: str


@dataclass(frozen=True, slots=True)
class BroadcastStep:
    """A widget that a tool pushed; `outcome` is Delivered, NoListener or DeliveryFailed."""

    marker: str
    outcome: str


EngineStep: TypeAlias = ModelCallStep | ToolCallStep | RefusalStep | BroadcastStep
