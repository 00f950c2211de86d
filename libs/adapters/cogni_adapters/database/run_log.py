"""The log of runs in rows: deltas in order, leases, and one conditional update that ends a run."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.prepared import fetch, fetch_one
from cogni_adapters.database.proposals import insert_proposal
from cogni_adapters.database.run_append import append_entries
from cogni_adapters.database.run_opening import NO_SUCH_RUN, open_run
from cogni_adapters.database.run_sealing import Sealed, seal_run
from cogni_adapters.database.tables.runs import run_deltas, run_lineage, runs
from cogni_domain.events import Event
from cogni_domain.ports.run_log import (
    Ending,
    LogEntry,
    NumberedDelta,
    Opened,
    RunLogPort,
    RunStatus,
)
from cogni_domain.run_record import RunOpening
from cogni_engine import from_payload
from cogni_kernel import Err, NotFoundError, Ok, PrincipalId, Result, RunRef, TenantId


class DatabaseRunLogAdapter(RunLogPort):
    """Every method is one transaction.

    Source:
        DESIGN D5, D7.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(
        self, opening: RunOpening, owner: str, lease_until: datetime, events: Sequence[Event]
    ) -> Result[Opened]:
        return await self._database.write(
            lambda connection: open_run(connection, opening, owner, lease_until, events)
        )

    async def append(self, entries: Sequence[LogEntry]) -> Result[frozenset[RunRef]]:
        return await self._database.write(
            lambda connection: Ok(append_entries(connection, entries))
        )

    async def deltas(self, run: RunRef, after: int, limit: int) -> Result[Sequence[NumberedDelta]]:
        def find(connection: sa.Connection) -> Result[Sequence[NumberedDelta]]:
            rows = fetch(connection, _DELTAS, ref=run.value, after=after, most=limit)
            return Ok([NumberedDelta(r.cursor, from_payload(r.name, r.payload)) for r in rows])

        return await self._database.read(find)

    async def status(self, run: RunRef) -> Result[RunStatus]:
        return await self._database.read(lambda connection: _status(connection, run))

    async def seal(
        self,
        run: RunRef,
        epoch: int | None,
        ending: Ending,
        last_cursor: int | None = None,
    ) -> Result[bool]:
        wanted = Sealed(run, epoch, last_cursor)

        def end(connection: sa.Connection) -> Result[bool]:
            if not seal_run(connection, wanted, ending.sealing, ending.closing):
                return Ok(False)
            if ending.proposal is not None:
                insert_proposal(connection, ending.proposal)
            write_events(connection, ending.events, ending.sealing.sealed_at)
            return Ok(True)

        return await self._database.write(end)

    async def renew(
        self, owner: str, held: Collection[RunRef], lease_until: datetime
    ) -> Result[None]:
        mine = (runs.c.owner == owner) & runs.c.run_ref.in_([run.value for run in held])
        return await self._change(sa.update(runs).where(mine).values(lease_until=lease_until))

    async def request_stop(self, run: RunRef) -> Result[None]:
        asked = runs.c.run_ref == run.value
        return await self._change(sa.update(runs).where(asked).values(stop_requested=True))

    async def stops_requested(self, owner: str) -> Result[frozenset[RunRef]]:
        found = await self._unsealed(_TO_STOP, {"by": owner})
        return found.map(frozenset)

    async def orphans(self, now: datetime) -> Result[Sequence[RunRef]]:
        return await self._unsealed(_ORPHANS, {"now": now})

    async def _change(self, statement: sa.Update) -> Result[None]:
        def change(connection: sa.Connection) -> Result[None]:
            connection.execute(statement.where(~runs.c.sealed))
            return Ok(None)

        return await self._database.write(change)

    async def _unsealed(
        self, query: sa.Select[str], values: Mapping[str, object]
    ) -> Result[Sequence[RunRef]]:
        return await self._database.read(
            lambda connection: Ok([RunRef(r.run_ref) for r in fetch(connection, query, **values)])
        )


_DELTAS = (
    sa.select(run_deltas.c.cursor, run_deltas.c.name, run_deltas.c.payload)
    .where(run_deltas.c.run_ref == sa.bindparam("ref"))
    .where(run_deltas.c.cursor > sa.bindparam("after"))
    .order_by(run_deltas.c.cursor)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_STATUS = sa.select(runs).where(runs.c.run_ref == sa.bindparam("ref"))
_LINEAGE = sa.select(run_lineage.c.document_id).where(run_lineage.c.run_ref == sa.bindparam("ref"))
_OPEN = sa.select(runs.c.run_ref).where(~runs.c.sealed).order_by(runs.c.lease_until)
_TO_STOP = _OPEN.where(runs.c.owner == sa.bindparam("by"), runs.c.stop_requested)
_ORPHANS = _OPEN.where(runs.c.lease_until <= sa.bindparam("now"))


def _status(connection: sa.Connection, run: RunRef) -> Result[RunStatus]:
    row = fetch_one(connection, _STATUS, ref=run.value)
    if row is None:
        return Err(NotFoundError(NO_SUCH_RUN))
    lineage = [r.document_id for r in fetch(connection, _LINEAGE, ref=run.value)]
    return Ok(
        RunStatus(
            run,
            TenantId(row.tenant_id),
            PrincipalId(row.principal),
            row.conversation_id,
            row.last_cursor,
            row.sealed,
            frozenset(lineage),
        )
    )
