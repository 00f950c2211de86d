"""`Outcome`: the five ways in which a piece of work ends, where `Err` would flatten them."""

from enum import Enum


class Outcome(Enum):
    """The kind of a terminal state; engine's `RunOutcome` has one value class for each."""

    COMPLETED = "completed"
    REFUSED = "refused"
    HALTED = "halted"
    PROPOSED = "proposed"
    FAILED = "failed"
