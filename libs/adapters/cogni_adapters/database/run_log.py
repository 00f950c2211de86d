"""The log of runs in rows: deltas in order, leases, and one conditional update that ends a run."""

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.outbox import write_events
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
        query = (
            sa.select(run_deltas.c.cursor, run_deltas.c.name, run_deltas.c.payload)
            .where(run_deltas.c.run_ref == run.value, run_deltas.c.cursor > after)
            .order_by(run_deltas.c.cursor)
            .limit(limit)
        )

        def find(connection: sa.Connection) -> Result[Sequence[NumberedDelta]]:
            rows = connection.execute(query)
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
        found = await self._unsealed((runs.c.owner == owner) & runs.c.stop_requested)
        return found.map(frozenset)

    async def orphans(self, now: datetime) -> Result[Sequence[RunRef]]:
        return await self._unsealed(runs.c.lease_until <= now)

    async def _change(self, statement: sa.Update) -> Result[None]:
        def change(connection: sa.Connection) -> Result[None]:
            connection.execute(statement.where(~runs.c.sealed))
            return Ok(None)

        return await self._database.write(change)

    async def _unsealed(self, wanted: sa.ColumnElement[bool]) -> Result[Sequence[RunRef]]:
        query = sa.select(runs.c.run_ref).where(wanted, ~runs.c.sealed).order_by(runs.c.lease_until)
        return await self._database.read(
            lambda connection: Ok([RunRef(ref) for ref in connection.scalars(query)])
        )


def _status(connection: sa.Connection, run: RunRef) -> Result[RunStatus]:
    row = connection.execute(sa.select(runs).where(runs.c.run_ref == run.value)).first()
    if row is None:
        return Err(NotFoundError(NO_SUCH_RUN))
    lineage = connection.scalars(
        sa.select(run_lineage.c.document_id).where(run_lineage.c.run_ref == run.value)
    )
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
