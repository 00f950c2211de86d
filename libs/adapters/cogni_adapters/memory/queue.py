"""Jobs in lanes, in memory."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from cogni_adapters.memory.state import JobRow, MemoryState
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import Ok, Result


class MemoryQueueAdapter(QueuePort):
    """Holds the jobs that follow from the writes over the same state, too."""

    def __init__(self, state: MemoryState, clock: ClockPort) -> None:
        self._state = state
        self._clock = clock

    async def enqueue(self, job: Job, lane: Lane) -> Result[bool]:
        return Ok(self._state.enqueue(job, lane))

    async def dequeue(
        self, lane: Lane, lease: timedelta, most: int = 1
    ) -> Result[Sequence[LeasedJob]]:
        now = self._clock.now()
        ready = (row for row in self._state.jobs.values() if row.lane is lane and _due(row, now))
        return Ok([_lease(row, now + lease) for row in islice(ready, most)])

    async def checkpoint(self, job: LeasedJob, cursor: str, lease: timedelta) -> Result[bool]:
        row = self._held(job)
        if row is None:
            return Ok(False)
        row.cursor = cursor
        row.leased_until = self._clock.now() + lease
        return Ok(True)

    async def hold(self, held: Sequence[LeasedJob], lease: timedelta) -> Result[None]:
        for row in filter(None, map(self._held, held)):
            row.leased_until = self._clock.now() + lease
        return Ok(None)

    async def complete(self, done: Sequence[LeasedJob]) -> Result[int]:
        rows = {row.id for row in map(self._held, done) if row is not None}
        for row in rows:
            del self._state.jobs[row]
        return Ok(len(rows))

    async def fail(self, job: LeasedJob, reason: str, retry_in: timedelta | None) -> Result[bool]:
        row = self._held(job)
        if row is None:
            return Ok(False)
        row.leased_until = None
        if retry_in is None:
            row.dead_because = reason
        else:
            row.not_before = self._clock.now() + retry_in
        return Ok(True)

    async def depth(self, lane: Lane) -> Result[int]:
        rows = self._state.jobs.values()
        return Ok(sum(row.lane is lane and row.dead_because is None for row in rows))

    def _held(self, job: LeasedJob) -> JobRow | None:
        """Return the row if nobody else took the job since; a lease that ran out unnoticed still counts."""
        row = self._state.jobs.get(job.id)
        if row is None or row.leased_until is None or str(row.attempts) != job.lease:
            return None
        return row


def _lease(row: JobRow, until: datetime) -> LeasedJob:
    row.attempts += 1
    row.leased_until = until
    return LeasedJob(row.id, row.job, row.attempts, row.cursor, lease=str(row.attempts))


def _due(row: JobRow, now: datetime) -> bool:
    if row.dead_because is not None:
        return False
    return all(until is None or until <= now for until in (row.not_before, row.leased_until))
