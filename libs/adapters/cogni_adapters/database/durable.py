"""Proposals over hours and crashes, as delayed jobs."""

from datetime import datetime

from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Job, Lane
from cogni_domain.ports.durable import DurablePort
from cogni_domain.ports.queue import QueuePort
from cogni_domain.proposals import Proposal
from cogni_kernel import Err, Ok, Result


class DatabaseDurableAdapter(DurablePort):
    """Two jobs of the conversational lane, `PROPOSAL_EXPIRE` and `PROPOSAL_EXECUTE`, keyed by the proposal and naming it.

    Source:
        DESIGN D8.
    """

    def __init__(self, queue: QueuePort) -> None:
        self._queue = queue

    async def begin(self, proposal: Proposal) -> Result[None]:
        return await self._enqueue(PROPOSAL_EXPIRE, proposal, proposal.expires_at)

    async def decided(self, proposal: Proposal) -> Result[None]:
        return await self._enqueue(PROPOSAL_EXECUTE, proposal, None)

    async def _enqueue(
        self, kind: str, proposal: Proposal, not_before: datetime | None
    ) -> Result[None]:
        key = str(proposal.id)
        job = Job(kind, proposal.tenant_id, key, {"proposal_id": key}, not_before)
        added = await self._queue.enqueue(job, Lane.CONVERSATIONAL)
        return added if isinstance(added, Err) else Ok(None)
