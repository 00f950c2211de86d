"""Ending a run for good: its outcome, record, proposal and events in one transaction."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from cogni_application.turn.outcome_view import OutcomeParts, outcome_payload
from cogni_application.turn.run_turn import Turn
from cogni_application.turn.streams import RunStreams
from cogni_domain.events import Event, MutationProposed, ToolFailed
from cogni_domain.ports.durable import DurablePort
from cogni_domain.ports.run_log import RunLogPort
from cogni_domain.proposals import EXPIRY, Proposal
from cogni_domain.run_record import Sealing
from cogni_engine import (
    Clock,
    Delta,
    DoneDelta,
    Failed,
    FailedDelta,
    ProposalDelta,
    Proposed,
    RunOutcome,
)
from cogni_kernel import Err, ProposalId

ATTEMPTS = 20


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
        proposal = self._proposal(turn, outcome)
        if proposal is not None:
            rendering, expires = dict(proposal.rendering), proposal.expires_at.isoformat()
            self.streams.publish(run, ProposalDelta(str(proposal.id), rendering, expires))
        payload = outcome_payload(outcome, _parts(turn, proposal))
        terminal = FailedDelta(payload) if isinstance(outcome, Failed) else DoneDelta(payload)
        sealing = Sealing(
            kind=outcome.kind.value,
            outcome=payload,
            answer=turn.voice.guard.text,
            usage=turn.usage,
            lineage=turn.passages.documents(),
            sealed_at=self.clock.now(),
        )
        for attempt in range(ATTEMPTS):
            if await self._written(turn, epoch, sealing, terminal, proposal):
                break
            await asyncio.sleep(min(2.0, 0.1 * 2**attempt))
        self.streams.end(run)
        if proposal is not None:
            await self.durable.begin(proposal)

    async def _written(
        self,
        turn: Turn,
        epoch: int,
        sealing: Sealing,
        terminal: Delta,
        proposal: Proposal | None,
    ) -> bool:
        """Write once; True where the database answered, whoever the run belongs to by now."""
        if not await self.streams.flush():
            return False
        sealed = await self.run_log.seal(
            turn.start.run_ref, epoch, sealing, terminal, _events(turn, proposal), proposal
        )
        return not isinstance(sealed, Err)

    def _proposal(self, turn: Turn, outcome: RunOutcome) -> Proposal | None:
        if not isinstance(outcome, Proposed):
            return None
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
            proposed_to=turn.start.principal.id,
            proposed_at=now,
            expires_at=now + EXPIRY,
        )


def _parts(turn: Turn, proposal: Proposal | None) -> OutcomeParts:
    return OutcomeParts(
        turn.start.run_ref,
        turn.start.conversation_id,
        turn.voice.guard,
        turn.widgets.issued,
        turn.usage,
        turn.passages.indexed_through,
        proposal,
    )


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
