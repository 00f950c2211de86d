"""Deliveries as rows: leased, settled, given up, tried again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.audit import append_fact
from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.schema import UtcDateTime
from cogni_adapters.database.subscriptions import (
    MOVED_ON,
    find_subscription,
    give_up_all,
    subscription_of,
)
from cogni_adapters.database.tables.events import event_deliveries, event_subscriptions
from cogni_adapters.database.tables.work import outbox
from cogni_domain.audit import AuditFact, AuditSeal
from cogni_domain.events_outgoing import (
    DeadDelivery,
    Delivered,
    GivenUp,
    LeasedDelivery,
    NewDelivery,
    Settlement,
    TryAgain,
)
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.subscriptions import Subscription, SubscriptionState
from cogni_kernel import ConflictError, Err, Ok, Result, TenantId

_D = event_deliveries.c
_S = event_subscriptions.c
_NOW: sa.BindParameter[datetime] = sa.bindparam("now", type_=UtcDateTime)
_DUE = (_D.subscription_id == _S.id, _D.state == "waiting", _D.due_at <= _NOW)
_READY = sa.select(event_subscriptions).where(
    _S.state == SubscriptionState.ACTIVE.value,
    _S.paused_until.is_(None) | (_S.paused_until <= _NOW),
    sa.exists().where(*_DUE),
)
_READY_AND_FREE = _READY.with_for_update(skip_locked=True)
_BUSY = (
    sa.select(_D.subscription_id, sa.func.count())
    .where(_D.state == "waiting", _D.lease.is_not(None), _D.due_at > _NOW)
    .group_by(_D.subscription_id)
)
_FIRST = (
    sa.select(event_deliveries)
    .where(_D.subscription_id == sa.bindparam("of"), _D.state == "waiting", _D.due_at <= _NOW)
    .order_by(_D.due_at, _D.id)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_LEASE = (
    sa.update(event_deliveries)
    .where(_D.id == sa.bindparam("of_id"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("attempt", "lease", "due_at")})
)


class DatabaseEventDeliveriesAdapter(EventDeliveriesPort):
    """A subscription's row is locked while its deliveries are leased, so that all workers share its limit."""

    def __init__(self, database: Database, seal: AuditSeal) -> None:
        self._database = database
        self._seal = seal

    async def add(self, new: Sequence[NewDelivery], now: datetime) -> Result[int]:
        rows = [_row(delivery, now) for delivery in new]

        def write(connection: sa.Connection) -> Result[int]:
            return Ok(sum(insert_if_new(connection, event_deliveries, row) for row in rows))

        return await self._database.write(write)

    async def take(
        self, now: datetime, lease: timedelta, at_once: int
    ) -> Result[Sequence[LeasedDelivery]]:
        def take(connection: sa.Connection) -> Result[Sequence[LeasedDelivery]]:
            ready = connection.execute(_READY_AND_FREE, {"now": now}).all()
            busy = {row[0]: row[1] for row in connection.execute(_BUSY, {"now": now})}
            taken: list[LeasedDelivery] = []
            for row in ready:
                free = at_once - busy.get(row.id, 0)
                if free > 0:
                    places = {"of": row.id, "now": now, "most": free}
                    found = connection.execute(_FIRST, places)
                    taken += [_leased(one, subscription_of(row)) for one in found]
            _write_leases(connection, taken, now + lease)
            return Ok(taken)

        if not await self._anything_is_due(now):
            return Ok([])
        return await self._database.write(take)

    async def _anything_is_due(self, now: datetime) -> bool:
        """Look without the write lock, which idle workers would else take again and again."""
        found = await self._database.read(
            lambda connection: Ok(connection.execute(_READY.limit(1), {"now": now}).first())
        )
        return isinstance(found, Err) or found.value is not None

    async def settle(self, held: LeasedDelivery, end: Settlement, now: datetime) -> Result[bool]:
        mine = sa.update(event_deliveries).where(
            _D.id == held.id, _D.lease == held.lease, _D.state == "waiting"
        )
        subscription = held.delivery.subscription_id

        def write(connection: sa.Connection) -> Result[bool]:
            if connection.execute(mine.values(lease=None, **_values(end, now))).rowcount != 1:
                return Ok(False)
            if isinstance(end, TryAgain) and end.pause:
                _change_subscription(connection, subscription, paused_until=end.at)
            if isinstance(end, GivenUp) and end.disable:
                disabled = SubscriptionState.DISABLED.value
                _change_subscription(connection, subscription, state=disabled, since=now)
                give_up_all(connection, subscription, end.reason, now)
            return Ok(True)

        return await self._database.write(write)

    async def dead(
        self, tenant: TenantId, subscription: str, most: int
    ) -> Result[Sequence[DeadDelivery]]:
        query = (
            sa.select(event_deliveries)
            .where(*_dead(tenant, subscription))
            .order_by(_D.since.desc(), _D.id.desc())
            .limit(most)
        )
        return await self._database.read(
            lambda connection: Ok(
                [
                    DeadDelivery(r.event_key, r.type, r.attempt, r.reason or "", r.since)
                    for r in connection.execute(query)
                ]
            )
        )

    async def redrive(
        self, tenant: TenantId, subscription: str, keys: Sequence[str], fact: AuditFact
    ) -> Result[int]:
        again = sa.update(event_deliveries).where(*_dead(tenant, subscription))
        if keys:
            again = again.where(_D.event_key.in_(keys))
        again = again.values(state="waiting", since=fact.at, due_at=fact.at, attempt=0, lease=None)

        def write(connection: sa.Connection) -> Result[int]:
            found = find_subscription(connection, tenant, subscription, lock=True)
            if isinstance(found, Err):
                return found
            if found.value.state is not SubscriptionState.ACTIVE:
                return Err(ConflictError(MOVED_ON))
            count = connection.execute(again).rowcount
            append_fact(connection, fact, self._seal)
            return Ok(count)

        return await self._database.write(write)

    async def forget(self, before: datetime) -> Result[int]:
        delivered = sa.delete(event_deliveries).where(_D.state == "delivered", _D.since < before)
        published = sa.delete(outbox).where(outbox.c.ended_at < before, outbox.c.refusal.is_(None))

        def delete(connection: sa.Connection) -> Result[int]:
            return Ok(sum(connection.execute(old).rowcount for old in (delivered, published)))

        return await self._database.write(delete)


def _row(new: NewDelivery, now: datetime) -> dict[str, object]:
    return {
        "subscription_id": new.subscription_id,
        "tenant_id": new.tenant_id.value,
        "event_key": new.event_key,
        "type": new.type,
        "body": new.body,
        "state": "waiting",
        "since": now,
        "attempt": 0,
        "due_at": now,
    }


def _leased(row: sa.Row[Any], subscription: Subscription) -> LeasedDelivery:
    attempt = row.attempt + 1
    delivery = NewDelivery(
        row.subscription_id, TenantId(row.tenant_id), row.event_key, row.type, row.body
    )
    lease = f"{row.id}.{attempt}.{row.since.isoformat()}"
    return LeasedDelivery(
        row.id, delivery, attempt, lease, subscription.endpoint, subscription.secrets
    )


def _write_leases(
    connection: sa.Connection, taken: Sequence[LeasedDelivery], until: datetime
) -> None:
    if taken:
        changes = [
            {"of_id": t.id, "new_attempt": t.attempt, "new_lease": t.lease, "new_due_at": until}
            for t in taken
        ]
        connection.execute(_LEASE, changes)


def _values(end: Settlement, now: datetime) -> dict[str, object]:
    match end:
        case Delivered():
            return {"state": "delivered", "since": now, "reason": None}
        case TryAgain(at, reason):
            return {"due_at": at, "reason": reason}
        case GivenUp(reason):
            return {"state": "dead", "since": now, "reason": reason}


def _change_subscription(connection: sa.Connection, subscription: str, **values: object) -> None:
    active = (_S.id == subscription, _S.state == SubscriptionState.ACTIVE.value)
    connection.execute(sa.update(event_subscriptions).where(*active).values(values))


def _dead(tenant: TenantId, subscription: str) -> tuple[sa.ColumnElement[bool], ...]:
    of_it = (_D.tenant_id == tenant.value, _D.subscription_id == subscription)
    return (*of_it, _D.state == "dead")
