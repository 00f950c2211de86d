"""Subscriptions as rows, each change in one transaction with its audit entry."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

import sqlalchemy as sa

from cogni_adapters.database.audit import append_fact
from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.tables.events import event_deliveries, event_subscriptions
from cogni_domain.audit import AuditFact, AuditSeal
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions import (
    CONFIRM_WITHIN,
    MAX_SUBSCRIPTIONS,
    STANDING,
    SealedSecrets,
    Subscription,
    SubscriptionState,
)
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
)

NO_SUBSCRIPTION = HumanText("There is no such subscription.")
TOO_MANY = HumanText(f"There are {MAX_SUBSCRIPTIONS} subscriptions already. Remove one first.")
OWN = HumanText("Another administrator than the one who asked has to confirm it.")
TOO_LATE = HumanText("This was asked for too long ago. Ask again.")
MOVED_ON = HumanText("This subscription has changed meanwhile. Look at it again.")
REMOVED_REASON = "the subscription was removed"

_WhyNot: TypeAlias = Callable[[Subscription], HumanText | None]
"""Says why a change is not for a subscription as it stands."""

_T = event_subscriptions.c


class DatabaseEventSubscriptionsAdapter(EventSubscriptionsPort):
    """A row is locked before it is changed, so that decisions which come together follow each other."""

    def __init__(self, database: Database, seal: AuditSeal) -> None:
        self._database = database
        self._seal = seal

    async def ask(self, wanted: Subscription, fact: AuditFact) -> Result[bool]:
        standing = (
            sa.select(_T.id)
            .where(
                _T.tenant_id == wanted.tenant_id.value,
                _T.state.in_([state.value for state in STANDING]),
            )
            .with_for_update()
        )

        def write(connection: sa.Connection) -> Result[bool]:
            if not insert_if_new(connection, event_subscriptions, _row(wanted)):
                return Ok(False)
            if len(connection.execute(standing).all()) > MAX_SUBSCRIPTIONS:
                return Err(ConflictError(TOO_MANY))
            append_fact(connection, fact, self._seal)
            return Ok(True)

        return await self._database.write(write)

    async def confirm(self, subscription: str, fact: AuditFact) -> Result[Subscription]:
        def why_not(found: Subscription) -> HumanText | None:
            if found.requested_by == fact.actor:
                return OWN
            if found.state is not SubscriptionState.REQUESTED:
                return MOVED_ON
            return TOO_LATE if found.requested_at + CONFIRM_WITHIN <= fact.at else None

        values = {"decided_by": fact.actor.value, **_now(SubscriptionState.ACTIVE, fact)}
        return await self._change(subscription, fact, why_not, values)

    async def decline(self, subscription: str, fact: AuditFact) -> Result[Subscription]:
        values = {"decided_by": fact.actor.value, **_now(SubscriptionState.DECLINED, fact)}
        return await self._change(subscription, fact, _unless(SubscriptionState.REQUESTED), values)

    async def remove(self, subscription: str, fact: AuditFact) -> Result[Subscription]:
        may = _unless(SubscriptionState.ACTIVE, SubscriptionState.DISABLED)
        values = _now(SubscriptionState.REMOVED, fact)
        return await self._change(subscription, fact, may, values, REMOVED_REASON)

    async def rotate(
        self, subscription: str, sealed: str, former_until: datetime, fact: AuditFact
    ) -> Result[Subscription]:
        still = sa.case((_T.former_until > fact.at, _T.former_secret), else_=_T.secret)
        values = {"former_secret": still, "secret": sealed, "former_until": former_until}
        return await self._change(subscription, fact, _unless(SubscriptionState.ACTIVE), values)

    async def get(self, tenant: TenantId, subscription: str) -> Result[Subscription]:
        return await self._database.read(
            lambda connection: find_subscription(connection, tenant, subscription)
        )

    async def of_tenant(self, tenant: TenantId) -> Result[Sequence[Subscription]]:
        query = sa.select(event_subscriptions).where(_T.tenant_id == tenant.value)
        return await self._all(query.order_by(_T.requested_at, _T.id))

    async def listening(self, tenants: Sequence[TenantId]) -> Result[Sequence[Subscription]]:
        query = sa.select(event_subscriptions).where(
            _T.tenant_id.in_([tenant.value for tenant in tenants]),
            _T.state == SubscriptionState.ACTIVE.value,
        )
        return await self._all(query.order_by(_T.id))

    async def _all(self, query: sa.Select[Any]) -> Result[Sequence[Subscription]]:
        return await self._database.read(
            lambda connection: Ok([subscription_of(row) for row in connection.execute(query)])
        )

    async def _change(
        self,
        subscription: str,
        fact: AuditFact,
        why_not: _WhyNot,
        values: dict[str, Any],
        giving_up: str | None = None,
    ) -> Result[Subscription]:
        change = sa.update(event_subscriptions).where(_T.id == subscription).values(values)

        def write(connection: sa.Connection) -> Result[Subscription]:
            found = find_subscription(connection, fact.tenant_id, subscription, lock=True)
            if isinstance(found, Err):
                return found
            refusal = why_not(found.value)
            if refusal is not None:
                return Err(ConflictError(refusal))
            connection.execute(change)
            if giving_up is not None:
                give_up_all(connection, subscription, giving_up, fact.at)
            append_fact(connection, fact, self._seal)
            return find_subscription(connection, fact.tenant_id, subscription)

        return await self._database.write(write)


def _unless(*states: SubscriptionState) -> _WhyNot:
    """Return what refuses a change to a subscription that is in none of these states."""
    return lambda found: None if found.state in states else MOVED_ON


def _now(state: SubscriptionState, fact: AuditFact) -> dict[str, object]:
    return {"state": state.value, "since": fact.at}


def find_subscription(
    connection: sa.Connection, tenant: TenantId, subscription: str, *, lock: bool = False
) -> Result[Subscription]:
    """Return a tenant's subscription; hold its row until the transaction ends, if wanted."""
    query = sa.select(event_subscriptions).where(
        _T.id == subscription, _T.tenant_id == tenant.value
    )
    row = connection.execute(query.with_for_update() if lock else query).first()
    return Err(NotFoundError(NO_SUBSCRIPTION)) if row is None else Ok(subscription_of(row))


def give_up_all(connection: sa.Connection, subscription: str, reason: str, at: datetime) -> None:
    """Give up every delivery that waits for a subscription."""
    waiting = sa.update(event_deliveries).where(
        event_deliveries.c.subscription_id == subscription, event_deliveries.c.state == "waiting"
    )
    connection.execute(waiting.values(state="dead", since=at, reason=reason, lease=None))


def subscription_of(row: sa.Row[Any]) -> Subscription:
    """Return a row as a subscription."""
    return Subscription(
        id=row.id,
        tenant_id=TenantId(row.tenant_id),
        endpoint=Endpoint(row.url),
        types=frozenset(cast(list[str], row.types)),
        state=SubscriptionState(row.state),
        requested_by=PrincipalId(row.requested_by),
        requested_at=row.requested_at,
        since=row.since,
        secrets=SealedSecrets(row.secret, row.former_secret, row.former_until),
        decided_by=None if row.decided_by is None else PrincipalId(row.decided_by),
    )


def _row(wanted: Subscription) -> dict[str, object]:
    return {
        "id": wanted.id,
        "tenant_id": wanted.tenant_id.value,
        "url": wanted.endpoint.url,
        "types": sorted(wanted.types),
        "state": wanted.state.value,
        "since": wanted.since,
        "requested_by": wanted.requested_by.value,
        "requested_at": wanted.requested_at,
        "secret": wanted.secrets.current,
    }
