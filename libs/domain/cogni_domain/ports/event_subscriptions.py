"""Subscriptions, each change of them together with its entry in the audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from cogni_domain.audit import AuditFact
from cogni_domain.subscriptions import Subscription
from cogni_kernel import Result, TenantId


class EventSubscriptionsPort(Protocol):
    """Implementations must pass `contracts.event_subscriptions.EventSubscriptionsContract`.

    Every change is made by `fact.actor` at `fact.at`. One of an id that the tenant has not is a NotFoundError.
    """

    async def ask(self, wanted: Subscription, fact: AuditFact) -> Result[bool]:
        """Write a subscription that is REQUESTED; False, and nothing changes, where its id is there already.

        Errors:
            ConflictError: The tenant has `MAX_SUBSCRIPTIONS` that stand.
        """
        ...

    async def confirm(self, subscription: str, fact: AuditFact) -> Result[Subscription]:
        """Make a subscription ACTIVE: the only arbiter between decisions that come together.

        Errors:
            ConflictError: It is the actor's own, is not REQUESTED any more, or was asked for too long ago.
        """
        ...

    async def decline(self, subscription: str, fact: AuditFact) -> Result[Subscription]:
        """Make a subscription DECLINED.

        Errors:
            ConflictError: It is not REQUESTED any more.
        """
        ...

    async def remove(self, subscription: str, fact: AuditFact) -> Result[Subscription]:
        """Make an ACTIVE or DISABLED one REMOVED; what still waits for it is given up.

        Errors:
            ConflictError: It is neither.
        """
        ...

    async def rotate(
        self, subscription: str, sealed: str, former_until: datetime, fact: AuditFact
    ) -> Result[Subscription]:
        """Sign with `sealed` from now on, with the one before beside it until then.

        Where a former one still signs, that one stays and the one between is dropped: whoever rotates again
        because an answer was lost has the endpoint verify as before.

        Errors:
            ConflictError: It is not ACTIVE.
        """
        ...

    async def get(self, tenant: TenantId, subscription: str) -> Result[Subscription]:
        """Return one."""
        ...

    async def of_tenant(self, tenant: TenantId) -> Result[Sequence[Subscription]]:
        """Return all of a tenant, the oldest first."""
        ...

    async def listening(self, tenants: Sequence[TenantId]) -> Result[Sequence[Subscription]]:
        """Return those of these tenants that are ACTIVE."""
        ...
