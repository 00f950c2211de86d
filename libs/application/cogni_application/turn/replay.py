"""What a reader gets of a run that may not be shown to them any more, or that they have read to its end."""

from collections.abc import AsyncIterator, Mapping

from cogni_domain.conversations import WITHHELD
from cogni_domain.ports.run_log import NumberedDelta, RunStatus
from cogni_engine import DoneDelta, FailedDelta, RunDelta


async def nothing_more() -> AsyncIterator[NumberedDelta]:
    """Yield nothing: the reader has all of it."""
    nothing: tuple[NumberedDelta, ...] = ()
    for numbered in nothing:
        yield numbered


async def withheld(
    status: RunStatus, rest: AsyncIterator[NumberedDelta], after: int
) -> AsyncIterator[NumberedDelta]:
    """Tell how a run began and, once it has, how it ended: nothing of what it said.

    Args:
        rest: The deltas of the run, at least the terminal one.
    """
    if after < 1:
        yield NumberedDelta(1, RunDelta(str(status.run_ref), status.conversation_id))
    async for numbered in rest:
        if isinstance(numbered.delta, DoneDelta | FailedDelta):
            told = _untold(status, numbered.delta.outcome)
            yield NumberedDelta(numbered.cursor, type(numbered.delta)(told))


def _untold(status: RunStatus, told: Mapping[str, object]) -> dict[str, object]:
    """Return an outcome of which the kind and the cost are left."""
    return {
        "run_ref": str(status.run_ref),
        "conversation_id": status.conversation_id,
        "kind": told.get("kind"),
        "text": WITHHELD,
        "citations": [],
        "markers": [],
        "proposal": None,
        "reason": "withheld",
        "message": None,
        "usage": told.get("usage"),
        "indexed_through": None,
    }
