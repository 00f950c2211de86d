"""Jobs as rows: lanes, leases and checkpoints that survive a restart."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.tables.work import jobs
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import Ok, Result, TenantId


def enqueue(connection: sa.Connection, job: Job, lane: Lane) -> bool:
    """Add a job in the transaction of what it follows from.

    False where the tenant has one of this kind and key that waits or runs, which changes nothing. A dead one
    does not count.
    """
    row = {
        "lane": lane.value,
        "kind": job.kind,
        "tenant_id": job.tenant_id.value,
        "key": job.key,
        "payload": dict(job.payload),
        "not_before": job.not_before,
        "due_at": job.not_before,
        "attempt": 0,
        "dead": False,
    }
    return insert_if_new(connection, jobs, row)


def first_job(lane: Lane, due: sa.ColumnElement[bool]) -> sa.Select[Any, Any]:
    """Return the query for the first job of a lane that is `due`, and in nobody's hands at this moment."""
    return (
        sa.select(jobs.c.id, jobs.c.attempt)
        .where(jobs.c.lane == lane.value, ~jobs.c.dead, due)
        .order_by(jobs.c.due_at, jobs.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


class DatabaseQueueAdapter(QueuePort):
    """A job done is a row less; a dead one stays, with its reason, for a person to look at.

    Source:
        COGNI.BUILD spec, package adapters, "DatabaseQueueAdapter".
    """

    def __init__(self, database: Database, clock: ClockPort) -> None:
        self._database = database
        self._clock = clock

    async def enqueue(self, job: Job, lane: Lane) -> Result[bool]:
        return await self._database.write(lambda connection: Ok(enqueue(connection, job, lane)))

    async def dequeue(self, lane: Lane, lease: timedelta) -> Result[LeasedJob | None]:
        def take(connection: sa.Connection) -> Result[LeasedJob | None]:
            now = self._clock.now()
            oldest = _oldest(connection, lane, now)
            return Ok(None if oldest is None else _lease(connection, oldest, now + lease))

        return await self._database.write(take)

    async def checkpoint(self, job: LeasedJob, cursor: str, lease: timedelta) -> Result[bool]:
        return await self._change(job, cursor=cursor, due_at=self._clock.now() + lease)

    async def hold(self, held: Sequence[LeasedJob], lease: timedelta) -> Result[None]:
        mine = sa.tuple_(jobs.c.id, jobs.c.lease).in_([(int(job.id), job.lease) for job in held])
        statement = sa.update(jobs).where(mine).values(due_at=self._clock.now() + lease)

        def renew(connection: sa.Connection) -> Result[None]:
            connection.execute(statement)
            return Ok(None)

        return await self._database.write(renew)

    async def complete(self, job: LeasedJob) -> Result[bool]:
        return await self._execute(sa.delete(jobs).where(*_held(job)))

    async def fail(self, job: LeasedJob, reason: str, retry_in: timedelta | None) -> Result[bool]:
        if retry_in is None:
            return await self._change(job, reason=reason, lease=None, dead=True)
        return await self._change(
            job, reason=reason, lease=None, due_at=self._clock.now() + retry_in
        )

    async def depth(self, lane: Lane) -> Result[int]:
        count = sa.select(sa.func.count()).where(jobs.c.lane == lane.value, ~jobs.c.dead)
        return await self._database.read(
            lambda connection: Ok(connection.execute(count).scalar_one())
        )

    async def _change(self, job: LeasedJob, **values: object) -> Result[bool]:
        return await self._execute(sa.update(jobs).where(*_held(job)).values(values))

    async def _execute(self, statement: sa.Update | sa.Delete) -> Result[bool]:
        return await self._database.write(
            lambda connection: Ok(connection.execute(statement).rowcount == 1)
        )


def _held(job: LeasedJob) -> tuple[sa.ColumnElement[bool], ...]:
    return jobs.c.id == int(job.id), jobs.c.lease == job.lease


def _oldest(connection: sa.Connection, lane: Lane, now: datetime) -> sa.Row[Any, Any] | None:
    """Return the older of the first job that waits for no moment and the first whose moment has come.

    Each of the two is the first entry of its part of the index.
    """
    queries = (first_job(lane, due) for due in (jobs.c.due_at.is_(None), jobs.c.due_at <= now))
    found = [row for query in queries if (row := connection.execute(query).first()) is not None]
    return min(found, key=lambda row: row.id, default=None)


def _lease(connection: sa.Connection, row: sa.Row[Any, Any], until: datetime) -> LeasedJob:
    attempt = row.attempt + 1
    taken = connection.execute(
        sa.update(jobs)
        .where(jobs.c.id == row.id)
        .values(attempt=attempt, lease=f"{row.id}.{attempt}", due_at=until)
        .returning(*jobs.c)
    ).one()
    job = Job(taken.kind, TenantId(taken.tenant_id), taken.key, taken.payload, taken.not_before)
    return LeasedJob(str(taken.id), job, taken.attempt, taken.cursor, taken.lease)
