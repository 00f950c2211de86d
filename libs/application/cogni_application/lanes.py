"""Working off a lane: leased jobs, a handler a kind, bounded attempts."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from cogni_application.background import forever
from cogni_domain.jobs import Lane, LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import DefinitionError, Err, Error, HumanText, Ok, Result, UpstreamError

LEASE = timedelta(seconds=30)
BATCH = 32
MAX_ATTEMPTS = 8
MAX_TAKEN = 40
"""How often a job is taken at most; more often than it may fail, since a process may die for another reason."""
IDLE_S = 0.05

Handler: TypeAlias = Callable[[Sequence[LeasedJob]], Awaitable[Sequence[Result[None]]]]
"""Does jobs of one kind; one result a job, in order. Every handler is idempotent by its job's key."""

BUG = HumanText("A background job met an error of ours.")
NEVER_BACK = HumanText("Every process that took this job ended before it was done.")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaneWorker:
    """Takes the jobs of one lane, a batch at a time.

    Attributes:
        handlers: By kind; of one batch, kinds are done in this order, so that long ones come last.

    Source:
        DESIGN D1, D7, D17.
    """

    queue: QueuePort
    lane: Lane
    handlers: Mapping[str, Handler]

    async def work(self) -> None:
        """Work until cancelled."""
        await forever(self.work_off, IDLE_S)

    async def work_off(self) -> None:
        """Work until nothing is due."""
        while await self.work_once():
            pass

    async def work_once(self) -> bool:
        """Take and do one batch; False where nothing was due."""
        taken = await self._taken()
        if taken:
            async with self._holding(taken):
                await self._do_each_kind(taken)
        return bool(taken)

    @asynccontextmanager
    async def _holding(self, jobs: Sequence[LeasedJob]) -> AsyncIterator[None]:
        """Hold jobs on for as long as they take, those too that wait for the others of their batch."""

        async def hold() -> None:
            await self.queue.hold(jobs, LEASE)

        holding = asyncio.create_task(forever(hold, LEASE.total_seconds() / 3))
        try:
            yield
        finally:
            holding.cancel()
            await asyncio.wait([holding])

    async def _do_each_kind(self, jobs: Sequence[LeasedJob]) -> None:
        for leased in jobs:
            if leased.job.kind not in self.handlers:
                await self._fail(leased, DefinitionError(f"nobody does {leased.job.kind}"))
        for kind, handler in self.handlers.items():
            mine = [leased for leased in jobs if leased.job.kind == kind]
            if mine:
                await self._do(handler, mine)

    async def _taken(self) -> list[LeasedJob]:
        found = await self.queue.dequeue(self.lane, LEASE, BATCH)
        leased = [] if isinstance(found, Err) else found.value
        for given_up in (job for job in leased if job.attempt > MAX_TAKEN):
            await self._fail(given_up, UpstreamError(NEVER_BACK, retryable=False))
        return [job for job in leased if job.attempt <= MAX_TAKEN]

    async def _do(self, handler: Handler, jobs: Sequence[LeasedJob]) -> None:
        """Do jobs together; where that breaks, each by itself, so that one poisons no other."""
        results = await self._results(handler, jobs)
        if results is None and len(jobs) > 1:
            for leased in jobs:
                await self._do(handler, [leased])
            return
        ended = list(zip(jobs, results or [_BROKEN] * len(jobs), strict=True))
        for leased, result in ended:
            if isinstance(result, Err):
                await self._fail(leased, result.error)
        if done := [leased for leased, result in ended if isinstance(result, Ok)]:
            await self.queue.complete(done)

    async def _results(
        self, handler: Handler, jobs: Sequence[LeasedJob]
    ) -> Sequence[Result[None]] | None:
        try:
            results = await handler(jobs)
        except Exception:
            _log.exception("jobs of kind %s failed", jobs[0].job.kind)
            return None
        return results if len(results) == len(jobs) else None

    async def _fail(self, leased: LeasedJob, error: Error) -> None:
        again = error.retryable and leased.attempt < MAX_ATTEMPTS
        wait = timedelta(seconds=2.0**leased.attempt) if again else None
        await self.queue.fail(leased, f"{error.code}: {error.message}", wait)


_BROKEN: Result[None] = Err(UpstreamError(BUG))
