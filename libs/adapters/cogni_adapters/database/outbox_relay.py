"""The outbox as its relay sees it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa

from cogni_adapters.database.dialects import insert
from cogni_adapters.database.engine import Database
from cogni_adapters.database.tables.events import component_leases
from cogni_adapters.database.tables.work import outbox
from cogni_domain.events_outgoing import OutgoingEvent
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_kernel import Ok, Result, TenantId

COMPONENT = "outbox-relay"
_WAITING = (
    sa.select(outbox)
    .where(outbox.c.ended_at.is_(None))
    .order_by(outbox.c.id)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_END = sa.update(outbox).where(outbox.c.id == sa.bindparam("number"), outbox.c.ended_at.is_(None))


class DatabaseEventOutboxAdapter(EventOutboxPort):
    """One owner at a time, by a lease in the database; one that lost it changes nothing.

    What two transactions write at once may become visible in the other order; what one follows from the
    other, as the turns of a conversation do, has its order.

    Source:
        DESIGN D7, D25.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def hold(self, owner: str, now: datetime, lease: timedelta) -> Result[bool]:
        values = {"owner": owner, "until": now + lease}

        def take(connection: sa.Connection) -> Result[bool]:
            mine = insert(connection.dialect.name, component_leases).values(
                component=COMPONENT, **values
            )
            free = (component_leases.c.owner == owner) | (component_leases.c.until <= now)
            mine = mine.on_conflict_do_update(index_elements=["component"], set_=values, where=free)
            return Ok(connection.execute(mine).rowcount == 1)

        return await self._database.write(take)

    async def unpublished(self, most: int) -> Result[Sequence[OutgoingEvent]]:
        return await self._database.read(
            lambda connection: Ok([_event(r) for r in connection.execute(_WAITING, {"most": most})])
        )

    async def published(self, owner: str, numbers: Sequence[int], now: datetime) -> Result[bool]:
        rows = [{"number": number, "ended_at": now} for number in numbers]
        return await self._end(owner, rows)

    async def refuse(self, owner: str, number: int, reason: str, now: datetime) -> Result[bool]:
        return await self._end(owner, [{"number": number, "ended_at": now, "refusal": reason}])

    async def _end(self, owner: str, rows: Sequence[dict[str, object]]) -> Result[bool]:
        holder = (
            sa.select(component_leases.c.owner)
            .where(component_leases.c.component == COMPONENT)
            .with_for_update()
        )

        def end(connection: sa.Connection) -> Result[bool]:
            if connection.scalar(holder) != owner:
                return Ok(False)
            if rows:
                connection.execute(_END, rows)
            return Ok(True)

        return await self._database.write(end)


def _event(row: sa.Row[Any]) -> OutgoingEvent:
    payload = cast(dict[str, object], row.payload)
    return OutgoingEvent(row.id, row.key, TenantId(row.tenant_id), payload, row.happened_at)
