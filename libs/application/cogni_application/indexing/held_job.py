"""A long job, kept in these hands for as long as it takes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cogni_application.background import forever
from cogni_application.lanes import LEASE
from cogni_domain.jobs import LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import Err


class HeldJob:
    """Checkpoints a job as it goes on, and holds it while one step takes long.

    Attributes:
        cursor: The newest checkpoint, None before the first.
        attempt: From 1.
    """

    def __init__(self, queue: QueuePort, job: LeasedJob) -> None:
        self.cursor: str | None = job.cursor or None
        self.attempt = job.attempt
        self._queue = queue
        self._job = job
        self._lost = False

    async def at(self, cursor: str | None) -> bool:
        """Remember how far the job has come; False where it is in other hands by now."""
        self.cursor = cursor
        await self._hold()
        return not self._lost

    @asynccontextmanager
    async def held(self) -> AsyncIterator["HeldJob"]:
        """Hold the job on, beside the work on it."""
        holding = asyncio.create_task(forever(self._hold, LEASE.total_seconds() / 3))
        try:
            yield self
        finally:
            holding.cancel()
            await asyncio.wait([holding])

    async def _hold(self) -> None:
        held = await self._queue.checkpoint(self._job, self.cursor or "", LEASE)
        self._lost = self._lost or not (isinstance(held, Err) or held.value)
