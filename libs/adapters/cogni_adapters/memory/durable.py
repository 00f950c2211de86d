"""Proposals over hours, as delayed jobs in memory."""

from datetime import datetime

from cogni_adapters.memory.state import MemoryState
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Job, Lane
from cogni_domain.ports.durable import DurablePort
from cogni_domain.proposals import Proposal
from cogni_kernel import Ok, Result


class MemoryDurableAdapter(DurablePort):
    """Two jobs of the conversational lane, keyed by the proposal and naming it."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def begin(self, proposal: Proposal) -> Result[None]:
        return self._enqueue(PROPOSAL_EXPIRE, proposal, proposal.expires_at)

    async def decided(self, proposal: Proposal) -> Result[None]:
        return self._enqueue(PROPOSAL_EXECUTE, proposal, None)

    def _enqueue(self, kind: str, proposal: Proposal, not_before: datetime | None) -> Result[None]:
        key = str(proposal.id)
        job = Job(kind, proposal.tenant_id, key, {"proposal_id": key}, not_before)
        self._state.enqueue(job, Lane.CONVERSATIONAL)
        return Ok(None)
