"""What stops a runaway loop."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from cogni_kernel import TokenCount


class Clock(Protocol):
    """Time, injected so that expiry is tested without sleep."""

    def now(self) -> datetime:
        """Return the moment, in UTC and aware."""
        ...


class HaltReason(Enum):
    """Why a run ended before the model was done. A halt is an answer: it carries what was found."""

    CALL_CEILING = "call_ceiling"
    CONTEXT_CEILING = "context_ceiling"
    DEADLINE = "deadline"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a run has come; `elapsed` since it began."""

    tool_calls: int
    context: TokenCount
    now: datetime
    elapsed: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class RunBounds:
    """A ceiling that is not a suggestion.

    Attributes:
        max_tool_calls: Tool calls of the whole run, however many one answer asks for.
        max_context: Tokens sent in one model call, after trimming.
        max_wall_clock: From the first model call on; passing it cancels what is under way.
        deadline: A moment (UTC) set by the caller, if any; the earlier of the two counts.

    Source:
        COGNI.BUILD spec, package engine, "RunBounds".
    """

    max_tool_calls: int = 10
    max_context: TokenCount = TokenCount(100_000)  # noqa: RUF009 - an int
    max_wall_clock: timedelta = timedelta(seconds=120)
    deadline: datetime | None = None

    def __post_init__(self) -> None:
        if self.max_tool_calls < 0 or self.max_context <= 0 or self.max_wall_clock <= timedelta():
            raise ValueError("bounds must be positive")
        if self.deadline is not None and self.deadline.tzinfo is None:
            raise ValueError("a deadline is a moment in UTC, aware of it")

    def check(self, state: RunState) -> HaltReason | None:
        """Return why the run must halt now, or None."""
        if not self.remaining(state.now, state.elapsed):
            return HaltReason.DEADLINE
        if state.tool_calls > self.max_tool_calls:
            return HaltReason.CALL_CEILING
        if state.context > self.max_context:
            return HaltReason.CONTEXT_CEILING
        return None

    def remaining(self, now: datetime, elapsed: timedelta = timedelta()) -> timedelta:
        """Return how long the run may still take from `now`, never negative."""
        left = self.max_wall_clock - elapsed
        if self.deadline is not None:
            left = min(left, self.deadline - now)
        return max(left, timedelta())
