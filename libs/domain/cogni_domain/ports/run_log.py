"""The numbered deltas of every run, who owns it, and how it ended."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cogni_domain.events import Event
from cogni_domain.proposals import Proposal
from cogni_domain.run_record import RunOpening, Sealing, Step
from cogni_engine import Delta
from cogni_kernel import PrincipalId, Result, RunRef, TenantId


@dataclass(frozen=True, slots=True)
class NumberedDelta:
    """A delta at its place; `cursor` counts from 1 within the run."""

    cursor: int
    delta: Delta


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What one run adds to the log: deltas from `first_cursor` on, and steps for its record."""

    run_ref: RunRef
    epoch: int
    first_cursor: int
    deltas: Sequence[Delta]
    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class Opened:
    """A run is in the log. `epoch` proves ownership; `existed` says that the idempotency key was known."""

    run_ref: RunRef
    conversation_id: str
    epoch: int
    first_handle: int
    existed: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """All that is written when a run ends.

    Attributes:
        closing: Its last deltas; the very last is terminal, and the only one that is.
        events: What happened by then.
        proposal: What a person must decide on, if anything.
    """

    sealing: Sealing
    closing: Sequence[Delta]
    events: Sequence[Event] = ()
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Who a run belongs to and how far it is."""

    run_ref: RunRef
    tenant_id: TenantId
    principal: PrincipalId
    conversation_id: str
    last_cursor: int
    sealed: bool
    lineage: frozenset[str]


class RunLogPort(Protocol):
    """Implementations must pass `contracts.run_log.RunLogContract`.

    The owner of a run holds a lease with an epoch; one that lost it cannot write. Every run ends with exactly
    one terminal delta, whoever seals it.
    """

    async def open(
        self, opening: RunOpening, owner: str, lease_until: datetime, events: Sequence[Event]
    ) -> Result[Opened]:
        """Begin a run, with its conversation where that is new, and its events, in one transaction.

        Errors:
            ConflictError: The idempotency key is known with another request.
            NotFoundError: The conversation is not this principal's.
        """
        ...

    async def append(self, entries: Sequence[LogEntry]) -> Result[frozenset[RunRef]]:
        """Commit deltas and steps of many runs together; return the runs that this owner has lost."""
        ...

    async def deltas(self, run: RunRef, after: int, limit: int) -> Result[Sequence[NumberedDelta]]:
        """Return deltas after a cursor, in order."""
        ...

    async def status(self, run: RunRef) -> Result[RunStatus]:
        """Return where a run stands.

        Errors:
            NotFoundError: There is no such run.
        """
        ...

    async def seal(
        self,
        run: RunRef,
        epoch: int | None,
        ending: Ending,
        last_cursor: int | None = None,
    ) -> Result[bool]:
        """End a run, in one transaction.

        False where it is sealed already, where `epoch` is not None and no longer the current one, or where
        the log does not end at `last_cursor`; then nothing changes. `epoch` None is the reaper's.

        Args:
            last_cursor: Where the log ends according to the record, None where that is certain.
        """
        ...

    async def renew(
        self, owner: str, held: Collection[RunRef], lease_until: datetime
    ) -> Result[None]:
        """Hold these runs until then, as far as they are unsealed and of `owner`.

        A run that its owner does not name is an orphan when its lease ends, though the owner lives.
        """
        ...

    async def request_stop(self, run: RunRef) -> Result[None]:
        """Ask the owner, in whatever process, to end a run; idempotent."""
        ...

    async def stops_requested(self, owner: str) -> Result[frozenset[RunRef]]:
        """Return this owner's unsealed runs that somebody asked to stop."""
        ...

    async def orphans(self, now: datetime) -> Result[Sequence[RunRef]]:
        """Return unsealed runs whose lease has run out."""
        ...
