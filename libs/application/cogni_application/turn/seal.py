"""Ending a run for good: its outcome, record, proposal and events in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cogni_application.turn.outcome_view import OutcomeParts, outcome_payload
from cogni_application.turn.run_turn import Turn
from cogni_application.turn.streams import RunStreams
from cogni_domain.events import Event, MutationProposed, ToolFailed
from cogni_domain.ports.durable import DurablePort
from cogni_domain.ports.run_log import Ending, RunLogPort
from cogni_domain.proposals import EXPIRY, Proposal
from cogni_domain.run_record import Sealing
from cogni_engine import (
    Clock,
    DoneDelta,
    Failed,
    FailedDelta,
    ProposalDelta,
    Proposed,
    RunOutcome,
)
from cogni_kernel import Err, HumanText, ProposalId, RunRef, UpstreamError

ATTEMPTS = 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunSealer:
    """Seals the runs of one process.

    Source:
        COGNI.BUILD spec, package domain, "RunRecorder"; DESIGN D5, D7, D8.
    """

    run_log: RunLogPort
    streams: RunStreams
    durable: DurablePort
    clock: Clock
    new_id: Callable[[], str]

    async def seal(self, turn: Turn, outcome: RunOutcome, epoch: int) -> None:
        """End the run.

        A database that does not answer is asked again for half a minute; after that the reaper ends the run.
        """
        run = turn.start.run_ref
        try:
            ending = self._ending(turn, outcome)
        except Exception as bug:
            _log.exception("run %s could not be described", run)
            ending = self._ending(turn, Failed(bug_in(run, bug=repr(bug)), turn.voice.shown.text))
        sealed = await self._sealed(run, epoch, ending)
        self.streams.end(run, ending.closing if sealed else ())
        if sealed:
            await self._afterwards(turn, ending.proposal)

    async def _sealed(self, run: RunRef, epoch: int, ending: Ending) -> bool:
        """Write until the database has answered; False where the run belongs to somebody else by now."""
        for attempt in range(ATTEMPTS):
            await self.streams.flush(run)
            if self.streams.is_settled(run):
                sealed = await self._written(run, epoch, ending)
                if sealed is not None:
                    return sealed
            await asyncio.sleep(min(2.0, 0.1 * 2**attempt))
        return False

    async def _written(self, run: RunRef, epoch: int, ending: Ending) -> bool | None:
        try:
            sealed = await self.run_log.seal(run, epoch, ending)
        except Exception:
            _log.exception("run %s could not be sealed", run)
            return None
        return None if isinstance(sealed, Err) else sealed.value

    async def _afterwards(self, turn: Turn, proposal: Proposal | None) -> None:
        """Pin what is shown, and see that a proposal expires; where that fails, sweepers come after it."""
        try:
            if turn.voice.shown.markers:
                await turn.widgets.pin(turn.voice.shown.markers)
            if proposal is not None:
                await self.durable.begin(proposal)
        except Exception:
            _log.exception("after run %s", turn.start.run_ref)

    def _ending(self, turn: Turn, outcome: RunOutcome) -> Ending:
        proposal = self._proposal(turn, outcome) if isinstance(outcome, Proposed) else None
        parts = OutcomeParts(
            turn.start.run_ref,
            turn.start.conversation_id,
            turn.voice.shown,
            turn.widgets.issued,
            turn.usage,
            turn.passages.indexed_through,
            proposal,
        )
        payload = outcome_payload(outcome, parts)
        terminal = FailedDelta(payload) if isinstance(outcome, Failed) else DoneDelta(payload)
        sealing = Sealing(
            kind=outcome.kind.value,
            outcome=payload,
            answer=parts.shown.text,
            usage=parts.usage,
            lineage=turn.lineage,
            sealed_at=self.clock.now(),
        )
        closing = (*_proposed(proposal), terminal)
        return Ending(sealing, closing, _events(turn, proposal), proposal)

    def _proposal(self, turn: Turn, outcome: Proposed) -> Proposal:
        now = self.clock.now()
        mutation = outcome.mutation
        return Proposal(
            id=ProposalId(self.new_id()),
            tenant_id=turn.start.scope.tenant_id,
            run_ref=turn.start.run_ref,
            tool_name=mutation.tool_name,
            tool_version=mutation.tool_version,
            arguments=mutation.arguments,
            rendering=mutation.rendering.to_payload(),
            proposed_to=turn.start.principal.person,
            proposed_at=now,
            expires_at=now + EXPIRY,
        )


def bug_in(run: RunRef, **detail: str) -> UpstreamError:
    """Return what a person is told of a bug: the run's reference, and nothing of the detail."""
    message = HumanText(
        f"Something went wrong on our side. Please ask again; if it stays, report {run}."
    )
    return UpstreamError(message, retryable=False, detail=detail)


def _proposed(proposal: Proposal | None) -> Sequence[ProposalDelta]:
    if proposal is None:
        return []
    expires = proposal.expires_at.isoformat()
    return [ProposalDelta(str(proposal.id), dict(proposal.rendering), expires)]


def _events(turn: Turn, proposal: Proposal | None) -> list[Event]:
    tenant, run = turn.start.scope.tenant_id, turn.start.run_ref
    events: list[Event] = [
        ToolFailed(tenant, run, step.call_id, step.tool_name, step.error)
        for step in turn.failed_calls
        if step.error is not None
    ]
    if proposal is not None:
        events.append(MutationProposed(tenant, run, proposal.tool_name, proposal.id))
    return events
