"""A long job that is checkpointed as it goes on."""

from cogni_application.lanes import LEASE
from cogni_domain.jobs import LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import Err


class HeldJob:
    """A job, and how far it has come.

    Attributes:
        cursor: The newest checkpoint, None before the first.
        attempt: From 1.
    """

    def __init__(self, queue: QueuePort, job: LeasedJob) -> None:
        self.cursor: str | None = job.cursor or None
        self.attempt = job.attempt
        self._queue = queue
        self._job = job

    async def at(self, cursor: str | None) -> bool:
        """Remember how far the job has come; False where it is in other hands by now."""
        self.cursor = cursor
        held = await self._queue.checkpoint(self._job, cursor or "", LEASE)
        return isinstance(held, Err) or held.value
