"""What carries a proposal over hours and crashes."""

from typing import Protocol

from cogni_domain.proposals import Proposal
from cogni_kernel import Result


class DurablePort(Protocol):
    """Implementations must pass `contracts.durable.DurableContract`.

    Thin over idempotent steps: it calls `expire` and `execute` of the proposal service at the right time,
    at least once, and decides nothing.
    """

    async def begin(self, proposal: Proposal) -> Result[None]:
        """See that the proposal expires when it should. Idempotent."""
        ...

    async def decided(self, proposal: Proposal) -> Result[None]:
        """See that an accepted proposal is executed. Idempotent."""
        ...
