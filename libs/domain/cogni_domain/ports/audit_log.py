"""The audit log: added to, read, verified; never changed."""

from collections.abc import Sequence
from typing import Protocol

from cogni_domain.audit import START, AuditEntry, AuditFact, BrokenChain, Checkpoint
from cogni_kernel import Result, TenantId


class AuditLogPort(Protocol):
    """Implementations must pass `contracts.audit_log.AuditLogContract`."""

    async def append(self, fact: AuditFact) -> Result[AuditEntry]:
        """Add a fact at the end of its tenant's chain."""
        ...

    async def entries(
        self, tenant: TenantId, after: int = 0, most: int = 1000
    ) -> Result[Sequence[AuditEntry]]:
        """Return entries in order, those after a number."""
        ...

    async def verify(
        self, tenant: TenantId, kept: Checkpoint = START
    ) -> Result[Checkpoint | BrokenChain]:
        """Return where the chain stands, or the first number at which it is not what was written.

        Args:
            kept: Where it stood at some earlier time, kept outside the database: without it, entries
                missing at the end cannot be seen.
        """
        ...
