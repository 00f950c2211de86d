"""A long job that is checkpointed as it goes on."""

from datetime import datetime

from cogni_application.lanes import LEASE
from cogni_domain.jobs import LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_engine import Clock
from cogni_kernel import Err

GLANCE = LEASE / 10
"""How long a job is known to be held without asking again."""


class HeldJob:
    """A job, and how far it has come.

    Attributes:
        cursor: The newest checkpoint, None before the first.
        attempt: From 1.
    """

    def __init__(self, queue: QueuePort, job: LeasedJob, clock: Clock) -> None:
        self.cursor: str | None = job.cursor or None
        self.attempt = job.attempt
        self._queue = queue
        self._job = job
        self._clock = clock
        self._asked_at: datetime | None = None

    async def at(self, cursor: str | None) -> bool:
        """Remember how far the job has come; False where it is in other hands by now."""
        now = self._clock.now()
        if cursor == self.cursor and self._asked_at and now - self._asked_at < GLANCE:
            return True
        self.cursor, self._asked_at = cursor, now
        held = await self._queue.checkpoint(self._job, cursor or "", LEASE)
        return isinstance(held, Err) or held.value
