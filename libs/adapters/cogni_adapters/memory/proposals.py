"""Proposals, in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from cogni_adapters.memory.state import MemoryState, ProposalRow
from cogni_domain.events import Event
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.proposals import NO_SUCH, Proposal, ProposalState, may_follow
from cogni_kernel import Err, NotFoundError, Ok, ProposalId, Result, TenantId


class MemoryProposalStoreAdapter(ProposalStorePort):
    """What the run log over the same state sealed."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def get(self, tenant: TenantId, proposal: ProposalId) -> Result[Proposal]:
        row = self._state.proposals.get(proposal)
        if row is None or row.proposal.tenant_id != tenant:
            return Err(NotFoundError(NO_SUCH))
        return Ok(row.proposal)

    async def transition(
        self,
        proposal: ProposalId,
        current: ProposalState,
        wanted: ProposalState,
        now: datetime,
        note: str = "",
        events: Sequence[Event] = (),
    ) -> Result[bool]:
        if not may_follow(current, wanted):
            raise ValueError(f"no proposal goes from {current.value} to {wanted.value}")
        row = self._state.proposals.get(proposal)
        if row is None or row.proposal.state is not current:
            return Ok(False)
        if wanted is ProposalState.ACCEPTED and now >= row.proposal.expires_at:
            return Ok(False)
        changed = replace(row.proposal, state=wanted, note=note or row.proposal.note)
        self._state.proposals[proposal] = ProposalRow(changed, now)
        self._state.write_events(events)
        return Ok(True)

    async def in_state(self, state: ProposalState, before: datetime) -> Result[Sequence[Proposal]]:
        rows = [r for r in self._state.proposals.values() if r.proposal.state is state]
        since = sorted((r for r in rows if r.since < before), key=lambda row: row.since)
        return Ok([row.proposal for row in since])
