"""Jobs as rows: lanes, leases and checkpoints that survive a restart."""

from collections.abc import Mapping, Sequence
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


def first_jobs(due: sa.ColumnElement[bool]) -> sa.Select[Any, Any]:
    """Return the query for the first jobs of a lane that are `due`, and in nobody's hands at this moment."""
    return (
        sa.select(jobs)
        .where(jobs.c.lane == sa.bindparam("of_lane"), ~jobs.c.dead, due)
        .order_by(jobs.c.due_at, jobs.c.id)
        .limit(sa.bindparam("most", type_=sa.Integer))
        .with_for_update(skip_locked=True)
    )


_FIRST = (first_jobs(jobs.c.due_at.is_(None)), first_jobs(jobs.c.due_at <= sa.bindparam("now")))
_LEASE = (
    sa.update(jobs)
    .where(jobs.c.id == sa.bindparam("of_job"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("attempt", "lease", "due_at")})
)
_COMPLETE = sa.delete(jobs).where(
    jobs.c.id == sa.bindparam("of_job"), jobs.c.lease == sa.bindparam("of_lease")
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

    async def dequeue(
        self, lane: Lane, lease: timedelta, most: int = 1
    ) -> Result[Sequence[LeasedJob]]:
        def take(connection: sa.Connection) -> Result[Sequence[LeasedJob]]:
            now = self._clock.now()
            rows = _oldest(connection, {"of_lane": lane.value, "now": now, "most": most})
            return Ok(_lease(connection, rows, now + lease))

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

    async def complete(self, done: Sequence[LeasedJob]) -> Result[int]:
        def work(connection: sa.Connection) -> Result[int]:
            places = [{"of_job": int(job.id), "of_lease": job.lease} for job in done]
            return Ok(sum(connection.execute(_COMPLETE, place).rowcount for place in places))

        return await self._database.write(work)

    async def fail(self, job: LeasedJob, reason: str, retry_in: timedelta | None) -> Result[bool]:
        if retry_in is None:
            return await self._change(job, reason=reason, lease=None, dead=True)
        return await self._change(
            job, reason=reason, lease=None, due_at=self._clock.now() + retry_in
        )

    async def take_over(self) -> Result[int]:
        """Make every job due at once that is in somebody's hands; return how many.

        For a process that knows that nobody else is left: it holds the data folder alone, and took none yet.
        """
        held = sa.update(jobs).where(jobs.c.lease.is_not(None), ~jobs.c.dead)
        statement = held.values(lease=None, due_at=jobs.c.not_before)
        return await self._database.write(
            lambda connection: Ok(connection.execute(statement).rowcount)
        )

    async def depth(self, lane: Lane) -> Result[int]:
        count = sa.select(sa.func.count()).where(jobs.c.lane == lane.value, ~jobs.c.dead)
        return await self._database.read(
            lambda connection: Ok(connection.execute(count).scalar_one())
        )

    async def _change(self, job: LeasedJob, **values: object) -> Result[bool]:
        held = (jobs.c.id == int(job.id), jobs.c.lease == job.lease)
        statement = sa.update(jobs).where(*held).values(values)
        return await self._database.write(
            lambda connection: Ok(connection.execute(statement).rowcount == 1)
        )


def _oldest(connection: sa.Connection, wanted: Mapping[str, Any]) -> Sequence[sa.Row[Any, Any]]:
    """Return the oldest of the jobs that wait for no moment and of those whose moment has come.

    Each of the two are the first entries of their part of the index.
    """
    found = [row for query in _FIRST for row in connection.execute(query, wanted)]
    return sorted(found, key=lambda row: row.id)[: wanted["most"]]


def _lease(
    connection: sa.Connection, rows: Sequence[sa.Row[Any, Any]], until: datetime
) -> Sequence[LeasedJob]:
    taken = [_leased(row) for row in rows]
    if taken:
        changes = [
            {
                "of_job": int(job.id),
                "new_attempt": job.attempt,
                "new_lease": job.lease,
                "new_due_at": until,
            }
            for job in taken
        ]
        connection.execute(_LEASE, changes)
    return taken


def _leased(row: sa.Row[Any, Any]) -> LeasedJob:
    attempt = row.attempt + 1
    job = Job(row.kind, TenantId(row.tenant_id), row.key, row.payload, row.not_before)
    return LeasedJob(str(row.id), job, attempt, row.cursor, f"{row.id}.{attempt}")
