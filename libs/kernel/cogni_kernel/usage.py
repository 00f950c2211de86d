"""What model calls cost: additive, and attributed per turn and per principal."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from cogni_kernel.ids import PrincipalId, RunRef
from cogni_kernel.text import TokenCount

NO_TOKENS = TokenCount(0)
MOST_TOKENS = 2**53


class TaskClass(Enum):
    """What a model call is for; routing and cost are decided by it."""

    CONVERSATIONAL = "conversational"
    AMBIENT = "ambient"
    CLASSIFICATION = "classification"
    JUDGING = "judging"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens over a number of model calls.

    Attributes:
        input: Tokens read.
        output: Tokens written.
        calls: Model calls.
        absent_calls: Calls of which the provider reported no usage; a budget charges their reservation.
        task_class: The one class of all calls; None for no calls or for several classes.

    Raises:
        ValueError: A figure is negative, more calls are absent than were made, or no call has a class.

    Source:
        COGNI.BUILD spec, package kernel, "Usage".
    """

    input: TokenCount = NO_TOKENS
    output: TokenCount = NO_TOKENS
    calls: int = 0
    absent_calls: int = 0
    task_class: TaskClass | None = None

    def __post_init__(self) -> None:
        if min(self.input, self.output, self.calls, self.absent_calls) < 0:
            raise ValueError("usage is never negative")
        if self.absent_calls > self.calls:
            raise ValueError("more calls are absent than were made")
        if self.task_class is not None and not self.calls:
            raise ValueError("no call has no task class")

    @property
    def total(self) -> TokenCount:
        """Tokens read and written."""
        return TokenCount(self.input + self.output)

    @property
    def is_absent(self) -> bool:
        """Whether some call's usage is unknown, so that `total` is a lower bound."""
        return self.absent_calls > 0

    @staticmethod
    def zero() -> "Usage":
        """Return the usage of no call: the neutral element of addition."""
        return Usage()

    @staticmethod
    def absent(task_class: TaskClass) -> "Usage":
        """Return the usage of one call whose provider said nothing."""
        return Usage(calls=1, absent_calls=1, task_class=task_class)

    @staticmethod
    def from_provider(raw: Mapping[str, object] | None, task_class: TaskClass) -> "Usage":
        """Read either provider shape; whatever cannot be read is ABSENT, never an exception.

        >>> Usage.from_provider({"prompt_tokens": 7, "completion_tokens": 2}, TaskClass.JUDGING).total
        9
        """
        if not isinstance(raw, Mapping):
            return Usage.absent(task_class)
        read = _first_count(raw, "input_tokens", "prompt_tokens")
        written = _first_count(raw, "output_tokens", "completion_tokens")
        if read is None or written is None:
            return Usage.absent(task_class)
        return Usage(read, written, calls=1, task_class=task_class)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            TokenCount(self.input + other.input),
            TokenCount(self.output + other.output),
            self.calls + other.calls,
            self.absent_calls + other.absent_calls,
            _joined_class(self, other),
        )


@dataclass(frozen=True, slots=True)
class AttributedUsage:
    """Whose usage it was: the unit of every cost figure."""

    usage: Usage
    run: RunRef
    principal: PrincipalId


def _first_count(raw: Mapping[str, object], *names: str) -> TokenCount | None:
    for name in names:
        value = raw.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
            return TokenCount(value)
    return None


def _joined_class(left: Usage, right: Usage) -> TaskClass | None:
    if not left.calls:
        return right.task_class
    if not right.calls or left.task_class is right.task_class:
        return left.task_class
    return None
