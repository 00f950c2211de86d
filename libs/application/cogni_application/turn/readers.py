"""Readers of runs: what is in the log reaches them from memory, and from the log where they were too slow."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cogni_domain.ports.run_log import NumberedDelta
from cogni_kernel import RunRef

MOST_KEPT = 64
"""Deltas that wait for one reader; who has not taken them by then reads on from the log."""


class Reader:
    """One reader's place in a run.

    Attributes:
        is_behind: Whether the log holds deltas that this reader has to fetch from it.
    """

    def __init__(self) -> None:
        self.is_behind = True
        self._kept: list[NumberedDelta] = []
        self._told = False
        self._waiter: asyncio.Future[None] | None = None
        self._until = 0.0
        self._alarm: asyncio.TimerHandle | None = None

    def tell(self, deltas: Sequence[NumberedDelta]) -> None:
        """Keep what has been committed, or let go of all that is kept where that becomes too much."""
        if not self.is_behind and len(self._kept) + len(deltas) <= MOST_KEPT:
            self._kept.extend(deltas)
        else:
            self.fall_behind()
        self._note()

    def fall_behind(self) -> None:
        """Let go of what is kept: the log has it."""
        self.is_behind = True
        self._kept.clear()

    def catch_up(self) -> None:
        """Keep what is committed from now on; what was before is to be fetched after this."""
        self.is_behind = False
        self._told = False

    def take(self, after: int) -> Sequence[NumberedDelta]:
        """Return what is kept after a cursor; nothing, and behind, where something between is missing."""
        found = [numbered for numbered in self._kept if numbered.cursor > after]
        self._kept.clear()
        self._told = False
        if found and found[0].cursor != after + 1:
            self.fall_behind()
            return ()
        return found

    def wake(self) -> None:
        """Say that the log has grown, or may have."""
        self.fall_behind()
        self._note()

    async def wait(self, seconds: float) -> bool:
        """Wait to be told; False where nothing came in that time."""
        if not self._told:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            self._until = loop.time() + seconds
            if self._alarm is None or self._alarm.when() > self._until:
                self._set_alarm()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._told

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _set_alarm(self) -> None:
        self.close()
        self._alarm = asyncio.get_running_loop().call_at(self._until, self._ring)

    def _ring(self) -> None:
        """End a wait that is over; one that began since has time left, and one alarm serves many."""
        self._alarm = None
        if self._waiter is None:
            return
        if asyncio.get_running_loop().time() < self._until:
            self._set_alarm()
        else:
            self._end_wait()

    def _note(self) -> None:
        self._told = True
        self._end_wait()

    def _end_wait(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Readers:
    """Who follows which run in this process."""

    def __init__(self) -> None:
        self._by_run: dict[str, set[Reader]] = {}

    def has(self, run: RunRef) -> bool:
        """Tell whether anybody in this process follows the run."""
        return run.value in self._by_run

    @contextmanager
    def one_of(self, run: RunRef) -> Iterator[Reader]:
        """Enter a reader of a run, for as long as it reads."""
        reader = Reader()
        self._by_run.setdefault(run.value, set()).add(reader)
        try:
            yield reader
        finally:
            reader.close()
            others = self._by_run[run.value]
            others.discard(reader)
            if not others:
                del self._by_run[run.value]

    def tell(self, run: RunRef, deltas: Sequence[NumberedDelta]) -> None:
        """Hand committed deltas to all who follow the run."""
        for reader in self._by_run.get(run.value, ()):
            reader.tell(deltas)

    def wake(self, run: RunRef) -> None:
        """Send all who follow the run to its log."""
        for reader in self._by_run.get(run.value, ()):
            reader.wake()
