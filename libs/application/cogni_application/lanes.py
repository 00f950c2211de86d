"""Working off a lane: leased jobs, a handler a kind, bounded attempts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from cogni_domain.jobs import Lane, LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import Err, Error, HumanText, Result, UpstreamError

LEASE = timedelta(seconds=30)
BATCH = 32
MAX_ATTEMPTS = 5
IDLE_S = 0.05

Handler: TypeAlias = Callable[[Sequence[LeasedJob]], Awaitable[Sequence[Result[None]]]]
"""Does jobs of one kind; one result a job, in order. Every handler is idempotent by its job's key."""

BUG = HumanText("A background job met an error of ours.")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaneWorker:
    """Takes the jobs of one lane, a batch at a time.

    Source:
        DESIGN D1, D7, D17.
    """

    queue: QueuePort
    lane: Lane
    handlers: Mapping[str, Handler]

    async def work(self) -> None:
        """Work until cancelled."""
        while True:
            if not await self.work_once():
                await asyncio.sleep(IDLE_S)

    async def work_off(self) -> None:
        """Work until nothing is due."""
        while await self.work_once():
            pass

    async def work_once(self) -> bool:
        """Take and do one batch; False where nothing was due."""
        taken: list[LeasedJob] = []
        while len(taken) < BATCH:
            job = await self.queue.dequeue(self.lane, LEASE)
            if isinstance(job, Err) or job.value is None:
                break
            taken.append(job.value)
        for kind in dict.fromkeys(t.job.kind for t in taken):
            await self._do(kind, [t for t in taken if t.job.kind == kind])
        return bool(taken)

    async def _do(self, kind: str, jobs: Sequence[LeasedJob]) -> None:
        try:
            results = await self.handlers[kind](jobs)
        except Exception as bug:
            _log.exception("jobs of kind %s failed", kind)
            failure = Err(UpstreamError(BUG, detail={"bug": repr(bug)}))
            results = [failure] * len(jobs)
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, Err):
                await self._fail(job, result.error)
            else:
                await self.queue.complete(job)

    async def _fail(self, job: LeasedJob, error: Error) -> None:
        again = error.retryable and job.attempt < MAX_ATTEMPTS
        wait = timedelta(seconds=2.0**job.attempt / 2) if again else None
        await self.queue.fail(job, f"{error.code}: {error.message}", wait)
