"""Deltas of all runs of a process, committed together and shown only then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from cogni_domain.ports.run_log import LogEntry, NumberedDelta, RunLogPort
from cogni_domain.run_record import Step
from cogni_engine import Delta, is_terminal
from cogni_kernel import Err, RunRef

GATHER_S = 0.004
POLL_S = 0.1
PAGE = 500


@dataclass
class _Live:
    """A run that this process owns."""

    epoch: int
    cursor: int = 1
    deltas: list[Delta] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


class RunStreams:
    """Writes what runs say, and lets readers follow.

    A delta is released once it is in the log, so no reader ever saw what the log lost; readers read the log
    and are woken by it, so a slow one costs nothing.

    Source:
        DESIGN D5.
    """

    def __init__(self, log: RunLogPort, on_lost: Callable[[RunRef], None]) -> None:
        self._log = log
        self._on_lost = on_lost
        self._live: dict[RunRef, _Live] = {}
        self._readers: dict[RunRef, set[asyncio.Event]] = {}
        self._dirty = asyncio.Event()
        self._flushing = asyncio.Lock()

    def begin(self, run: RunRef, epoch: int) -> None:
        """Own a run from now on."""
        self._live[run] = _Live(epoch)

    def publish(self, run: RunRef, delta: Delta) -> None:
        """Add a delta; it is shown with the next commit."""
        if (live := self._live.get(run)) is not None:
            live.deltas.append(delta)
            self._dirty.set()

    def record(self, run: RunRef, step: Step) -> None:
        """Add a step to the run's record; it is kept with the next commit."""
        if (live := self._live.get(run)) is not None:
            live.steps.append(step)
            self._dirty.set()

    async def write(self) -> None:
        """Commit what has gathered, again and again, until cancelled."""
        while True:
            await self._dirty.wait()
            await self.flush()
            await asyncio.sleep(GATHER_S)

    async def flush(self) -> bool:
        """Commit everything that has gathered; False, and kept for the next time, where it could not be."""
        async with self._flushing:
            self._dirty.clear()
            entries = [
                LogEntry(run, live.epoch, live.cursor, tuple(live.deltas), tuple(live.steps))
                for run, live in self._live.items()
                if live.deltas or live.steps
            ]
            if not entries:
                return True
            written = await self._log.append(entries)
            if isinstance(written, Err):
                self._dirty.set()
                await asyncio.sleep(POLL_S)
                return False
            for entry in entries:
                self._settle(entry, lost=entry.run_ref in written.value)
        return True

    def _settle(self, entry: LogEntry, *, lost: bool) -> None:
        live = self._live.get(entry.run_ref)
        if lost:
            self._live.pop(entry.run_ref, None)
            self._on_lost(entry.run_ref)
        elif live is not None:
            live.cursor += len(entry.deltas)
            del live.deltas[: len(entry.deltas)]
            del live.steps[: len(entry.steps)]
        self.wake(entry.run_ref)

    def end(self, run: RunRef) -> None:
        """Own a run no longer: it is sealed."""
        self._live.pop(run, None)
        self.wake(run)

    def wake(self, run: RunRef) -> None:
        """Tell the readers of a run that its log has grown."""
        for reader in self._readers.get(run, ()):
            reader.set()

    async def follow(self, run: RunRef, after: int) -> AsyncIterator[NumberedDelta]:
        """Yield the deltas after a cursor, then those to come, up to the terminal one.

        Works for a run of any process that shares the log. Leaving it stops nothing but itself.
        """
        woken = asyncio.Event()
        self._readers.setdefault(run, set()).add(woken)
        try:
            while True:
                woken.clear()
                found = await self._log.deltas(run, after, PAGE)
                for numbered in [] if isinstance(found, Err) else found.value:
                    after = numbered.cursor
                    yield numbered
                    if is_terminal(numbered.delta):
                        return
                if isinstance(found, Err) or not found.value:
                    await _wait(woken)
        finally:
            readers = self._readers[run]
            readers.discard(woken)
            if not readers:
                del self._readers[run]


async def _wait(woken: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(POLL_S):
            await woken.wait()
    except TimeoutError:
        return
