"""What a provider is to say, in no provider's shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from cogni_testing.providers.faults import Fault
from cogni_testing.providers.received import Received


class Finish(Enum):
    """Why an answer is over."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One call of a tool.

    Attributes:
        pieces: Its arguments as written, in the fragments in which they are streamed; none for no arguments.
        id: Its id; the double gives it one where it is empty.
    """

    name: str
    pieces: tuple[str, ...] = ("{}",)
    id: str = ""

    @property
    def arguments(self) -> str:
        """The arguments as written, in one."""
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model.

    Attributes:
        text: What it says, one piece a delta.
        calls: What it calls.
        refusal: Why it will not answer, one piece a delta; in the format's own place for it.
        finish: Why it is over; None for what follows from the rest.
        usage: Tokens read and written; None where the provider does not say.
        model: The model that answers, as the provider names it.
        faults: What goes wrong with it.
    """

    text: tuple[str, ...] = ()
    calls: tuple[ScriptedCall, ...] = ()
    refusal: tuple[str, ...] = ()
    finish: Finish | None = None
    usage: tuple[int, int] | None = (100, 20)
    model: str = "served-1"
    faults: tuple[Fault, ...] = ()

    @property
    def finished(self) -> Finish:
        """Why the answer is over."""
        if self.finish is not None:
            return self.finish
        return Finish.TOOL_CALLS if self.calls else Finish.STOP

    def call_id(self, number: int) -> str:
        """Return the id of a call, by its place among the calls."""
        return self.calls[number].id or f"call_{number + 1}"

    def has(self, kind: type[Fault]) -> bool:
        """Tell whether a kind of fault is scripted."""
        return any(isinstance(fault, kind) for fault in self.faults)


def says(*pieces: str) -> Turn:
    """Return a turn that only answers."""
    return Turn(pieces)


def calls(name: str, *pieces: str) -> Turn:
    """Return a turn that calls one tool, its arguments in these fragments."""
    return Turn(calls=(ScriptedCall(name, pieces),))


@dataclass(frozen=True, slots=True)
class Script:
    """What each request is answered with: the next turn, the last one again and again.

    Attributes:
        choose: Decides instead, by the request and the number of those before it; for requests that come at once.
    """

    turns: Sequence[Turn] = ()
    choose: Callable[[Received, int], Turn] | None = None

    def turn(self, request: Received, number: int) -> Turn:
        """Return the turn that answers a request; `number` requests came before it."""
        if self.choose is not None:
            return self.choose(request, number)
        if not self.turns:
            raise ValueError("a script without turns answers nothing")
        return self.turns[min(number, len(self.turns) - 1)]
