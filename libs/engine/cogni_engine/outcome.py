"""How a run ends."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, TypeAlias

from cogni_engine.bounds import HaltReason
from cogni_engine.channel.renderables import Renderable
from cogni_kernel import Error, HumanText, Outcome


class RefusalReason(Enum):
    """Why a run ended without an answer, on purpose."""

    NOT_OFFERED = "not_offered"
    NOTHING_FOUND = "nothing_found"
    OUT_OF_SCOPE = "out_of_scope"
    PROHIBITED = "prohibited"
    BUDGET_EXCEEDED = "budget_exceeded"
    PROVIDER_DOWN = "provider_down"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change that a tool would make, for a person to decide on.

    Attributes:
        tool_name: The tool that would make it.
        tool_version: Its version when it was proposed.
        arguments: The canonical JSON of what it would be called with.
        rendering: What the person reads before saying yes, made from the arguments alone.
        call_id: The call that asked for it.
    """

    tool_name: str
    tool_version: str
    arguments: str
    rendering: Renderable
    call_id: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The model answered."""

    kind: ClassVar[Outcome] = Outcome.COMPLETED
    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no answer, and `message` says what can be asked instead."""

    kind: ClassVar[Outcome] = Outcome.REFUSED
    reason: RefusalReason
    message: HumanText


@dataclass(frozen=True, slots=True)
class Halted:
    """A bound or the person stopped the run; `partial` is what it had."""

    kind: ClassVar[Outcome] = Outcome.HALTED
    reason: HaltReason
    partial: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """A person must decide on `mutation`; `text` is what the model said beside it."""

    kind: ClassVar[Outcome] = Outcome.PROPOSED
    mutation: Mutation
    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Something broke; `partial` is what the run had."""

    kind: ClassVar[Outcome] = Outcome.FAILED
    error: Error
    partial: str = ""


RunOutcome: TypeAlias = Completed | Refused | Halted | Proposed | Failed
