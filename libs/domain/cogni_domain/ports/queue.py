"""Durable work in lanes: at least once, leased, checkpointed."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_kernel import Result


class QueuePort(Protocol):
    """Implementations must pass `contracts.queue.QueueContract`."""

    async def enqueue(self, job: Job, lane: Lane) -> Result[bool]:
        """Add a job; False where one of this kind and key waits or runs already, which changes nothing."""
        ...

    async def dequeue(
        self, lane: Lane, lease: timedelta, most: int = 1
    ) -> Result[Sequence[LeasedJob]]:
        """Take the oldest jobs of the lane that are due, or whose lease ran out: `most` of them at most."""
        ...

    async def checkpoint(self, job: LeasedJob, cursor: str, lease: timedelta) -> Result[bool]:
        """Remember how far the job has come, and hold it on; False where it is in other hands by now."""
        ...

    async def hold(self, held: Sequence[LeasedJob], lease: timedelta) -> Result[None]:
        """Hold jobs on, those of them that are still in these hands; where they stand does not change."""
        ...

    async def complete(self, done: Sequence[LeasedJob]) -> Result[int]:
        """The work is done; returns how many of the jobs were not in other hands by now."""
        ...

    async def fail(self, job: LeasedJob, reason: str, retry_in: timedelta | None) -> Result[bool]:
        """The work failed: try again later, or park it as dead with its reason where `retry_in` is None."""
        ...

    async def depth(self, lane: Lane) -> Result[int]:
        """Return how many jobs of the lane wait or run, delayed ones too; dead ones do not count."""
        ...
