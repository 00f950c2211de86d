"""The numbered deltas of every run, in memory."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from cogni_adapters.memory.state import MemoryState, ProposalRow, RunRow
from cogni_domain.conversations import Conversation
from cogni_domain.events import ConversationStarted, Event
from cogni_domain.ports.run_log import (
    Ending,
    LogEntry,
    NumberedDelta,
    Opened,
    RunLogPort,
    RunStatus,
)
from cogni_domain.run_record import RunOpening, step_payload
from cogni_kernel import ConflictError, Err, HumanText, NotFoundError, Ok, Result, RunRef

NOT_THE_OWNER = 0
TITLE_CHARACTERS = 80

KEY_USED = Err(
    ConflictError(HumanText("This request was sent before, with other content. Send it anew."))
)
NO_CONVERSATION = Err(NotFoundError(HumanText("There is no such conversation.")))
NO_RUN = Err(NotFoundError(HumanText("There is no such answer.")))


class MemoryRunLogAdapter(RunLogPort):
    """Runs of one process; several adapters over one state are several owners."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def open(
        self, opening: RunOpening, owner: str, lease_until: datetime, events: Sequence[Event]
    ) -> Result[Opened]:
        if (known := self._known(opening)) is not None:
            if known.opening.request_digest != opening.request_digest:
                return KEY_USED
            return Ok(_opened(known, NOT_THE_OWNER, existed=True))
        conversation = self._conversation(opening)
        if conversation is None:
            return NO_CONVERSATION
        is_new = conversation.turn_count == 1
        self._state.conversations[conversation.id] = conversation
        row = RunRow(opening, owner, lease_until, conversation.handles_issued + 1)
        self._state.runs[opening.run_ref] = row
        self._state.write_events(
            [e for e in events if is_new or not isinstance(e, ConversationStarted)]
        )
        return Ok(_opened(row, row.epoch, existed=False))

    async def append(self, entries: Sequence[LogEntry]) -> Result[frozenset[RunRef]]:
        lost = set()
        for entry in entries:
            row = self._owned(entry.run_ref, entry.epoch)
            if row is None or entry.first_cursor != len(row.deltas) + 1:
                lost.add(entry.run_ref)
                continue
            row.deltas.extend(entry.deltas)
            row.steps.extend(map(step_payload, entry.steps))
        return Ok(frozenset(lost))

    async def deltas(self, run: RunRef, after: int, limit: int) -> Result[Sequence[NumberedDelta]]:
        row = self._state.runs.get(run)
        found = [] if row is None else row.deltas[after : after + limit]
        return Ok([NumberedDelta(n, delta) for n, delta in enumerate(found, after + 1)])

    async def status(self, run: RunRef) -> Result[RunStatus]:
        row = self._state.runs.get(run)
        if row is None:
            return NO_RUN
        return Ok(
            RunStatus(
                run_ref=run,
                tenant_id=row.opening.tenant_id,
                principal=row.opening.principal,
                conversation_id=str(row.opening.conversation_id),
                last_cursor=len(row.deltas),
                sealed=row.sealing is not None,
                lineage=frozenset(map(str, row.sealing.lineage if row.sealing else ())),
            )
        )

    async def seal(
        self,
        run: RunRef,
        epoch: int | None,
        ending: Ending,
        last_cursor: int | None = None,
    ) -> Result[bool]:
        row = self._owned(run, epoch)
        if row is None or last_cursor not in (None, len(row.deltas)):
            return Ok(False)
        row.sealing = ending.sealing
        row.deltas.extend(ending.closing)
        if (proposal := ending.proposal) is not None:
            self._state.proposals[proposal.id] = ProposalRow(proposal, proposal.proposed_at)
        self._state.write_events(ending.events)
        return Ok(True)

    async def renew(
        self, owner: str, held: Collection[RunRef], lease_until: datetime
    ) -> Result[None]:
        for row in self._unsealed():
            if row.owner == owner and row.opening.run_ref in held:
                row.lease_until = lease_until
        return Ok(None)

    async def request_stop(self, run: RunRef) -> Result[None]:
        if (row := self._state.runs.get(run)) is not None:
            row.stop_requested = True
        return Ok(None)

    async def stops_requested(self, owner: str) -> Result[frozenset[RunRef]]:
        wanted = (r for r in self._unsealed() if r.owner == owner and r.stop_requested)
        return Ok(frozenset(row.opening.run_ref for row in wanted))

    async def orphans(self, now: datetime) -> Result[Sequence[RunRef]]:
        return Ok([r.opening.run_ref for r in self._unsealed() if r.lease_until <= now])

    def _unsealed(self) -> list[RunRow]:
        return [row for row in self._state.runs.values() if row.sealing is None]

    def _owned(self, run: RunRef, epoch: int | None) -> RunRow | None:
        """Return the run if it is unsealed and `epoch` is its current one, or None, the reaper's."""
        row = self._state.runs.get(run)
        if row is None or row.sealing is not None or epoch not in (None, row.epoch):
            return None
        return row

    def _known(self, opening: RunOpening) -> RunRow | None:
        if opening.idempotency_key is None:
            return None
        return next((r for r in self._state.runs.values() if _asked_by_the_same(r, opening)), None)

    def _conversation(self, opening: RunOpening) -> Conversation | None:
        """Return the conversation with one more turn, None where it is somebody else's."""
        found = self._state.conversations.get(opening.conversation_id)
        if found is None:
            return _begun(opening)
        if (found.tenant_id, found.owner) != (opening.tenant_id, opening.principal):
            return None
        return replace(
            found,
            title=found.title if found.turn_count else _title(opening.question),
            last_turn_at=opening.opened_at,
            turn_count=found.turn_count + 1,
            ended_at=None,
        )


def _asked_by_the_same(row: RunRow, opening: RunOpening) -> bool:
    known = row.opening
    return (known.tenant_id, known.principal, known.idempotency_key) == (
        opening.tenant_id,
        opening.principal,
        opening.idempotency_key,
    )


def _begun(opening: RunOpening) -> Conversation:
    return Conversation(
        id=opening.conversation_id,
        tenant_id=opening.tenant_id,
        owner=opening.principal,
        surface_id=opening.surface_id,
        title=_title(opening.question),
        started_at=opening.opened_at,
        last_turn_at=opening.opened_at,
        turn_count=1,
    )


def _title(question: str) -> str:
    """Return the first line that says something, shortened."""
    line = next((line.strip() for line in question.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_CHARACTERS else f"{line[: TITLE_CHARACTERS - 1]}…"


def _opened(row: RunRow, epoch: int, *, existed: bool) -> Opened:
    conversation = str(row.opening.conversation_id)
    return Opened(row.opening.run_ref, conversation, epoch, row.first_handle, existed)
