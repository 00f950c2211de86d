"""Proposals, and the conditional updates that decide between them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from cogni_domain.events import Event
from cogni_domain.proposals import Proposal, ProposalState
from cogni_kernel import ProposalId, Result, TenantId


class ProposalStorePort(Protocol):
    """Implementations must pass `contracts.proposal_store.ProposalStoreContract`. A run's seal creates them."""

    async def get(self, tenant: TenantId, proposal: ProposalId) -> Result[Proposal]:
        """Return a proposal.

        Errors:
            NotFoundError: The tenant has none of that id.
        """
        ...

    async def transition(
        self,
        proposal: ProposalId,
        current: ProposalState,
        wanted: ProposalState,
        now: datetime,
        note: str = "",
        events: Sequence[Event] = (),
    ) -> Result[bool]:
        """Go from one state to another, if it is still in the first: the only arbiter.

        False where it is not, or where PENDING is to become ACCEPTED after its expiry; nothing changes then.

        Raises:
            ValueError: The state machine has no such step.
        """
        ...

    async def in_state(self, state: ProposalState, before: datetime) -> Result[Sequence[Proposal]]:
        """Return proposals in a state since before then, of every tenant, for the sweeper."""
        ...
