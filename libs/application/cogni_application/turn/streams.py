"""Deltas of all runs of a process, committed together and shown only then."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from cogni_application.background import forever
from cogni_domain.ports.run_log import LogEntry, NumberedDelta, RunLogPort
from cogni_domain.run_record import Step
from cogni_engine import Delta, is_terminal
from cogni_kernel import Err, NotFoundError, Ok, RunRef

GATHER_S = 0.004
POLL_S = 0.1
LIVE_POLL_S = 1.0
PAGE = 500
_log = logging.getLogger(__name__)


@dataclass
class _Live:
    """A run that this process owns.

    Attributes:
        cursor: Of the first delta that waits.
        unanswered: The newest commit of which it is not known whether it is in the log.
        failures: How many commits of this run alone have failed.
    """

    epoch: int
    cursor: int = 1
    deltas: list[Delta] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    unanswered: LogEntry | None = None
    failures: int = 0


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
        await forever(self._write_once, GATHER_S)

    async def _write_once(self) -> None:
        await self._dirty.wait()
        await self.flush()

    async def flush(self) -> None:
        """Commit everything that has gathered; what could not be is kept for the next time.

        What cannot be committed together is tried run by run: one that cannot be written holds up no other.
        """
        async with self._flushing:
            self._dirty.clear()
            waiting = [run for run, live in self._live.items() if live.deltas or live.steps]
            if not waiting or await self._commit(waiting):
                return
            if len(waiting) > 1:
                await self._commit_singly(waiting)
            self._dirty.set()
            await asyncio.sleep(POLL_S)

    def is_settled(self, run: RunRef) -> bool:
        """Tell whether nothing of the run waits to be committed."""
        live = self._live.get(run)
        return live is None or not (live.deltas or live.steps)

    async def _commit_singly(self, runs: Sequence[RunRef]) -> None:
        """Commit run by run, those that failed before last; two failures say that the log does not answer."""
        failed = 0
        for run in sorted(filter(self._live.get, runs), key=lambda r: self._live[r].failures):
            live = self._live.get(run)
            if failed < 2 and live is not None and not await self._commit([run]):
                failed += 1
                live.failures += 1

    async def _commit(self, runs: Sequence[RunRef]) -> bool:
        entries = [entry for run in runs if (entry := await self._entry(run)) is not None]
        try:
            written = await self._log.append(entries)
        except Exception:
            _log.exception("the log of runs could not be written")
            return False
        if isinstance(written, Err):
            return False
        for entry in entries:
            self._settle(entry, lost=entry.run_ref in written.value)
        return len(entries) == len(runs)

    async def _entry(self, run: RunRef) -> LogEntry | None:
        """Return what waits of a run; None while it cannot be told whether that is in the log already."""
        before = self._live[run].unanswered
        if before is not None and before.deltas:
            status = await self._log.status(run)
            if isinstance(status, Err) and not isinstance(status.error, NotFoundError):
                return None
            written = before.first_cursor + len(before.deltas) - 1
            if isinstance(status, Ok) and status.value.last_cursor >= written:
                self._settle(before, lost=False)
        if (live := self._live.get(run)) is None:
            return None
        live.unanswered = LogEntry(
            run, live.epoch, live.cursor, tuple(live.deltas), tuple(live.steps)
        )
        return live.unanswered

    def _settle(self, entry: LogEntry, *, lost: bool) -> None:
        live = self._live.get(entry.run_ref)
        if lost:
            self._live.pop(entry.run_ref, None)
            self._on_lost(entry.run_ref)
        elif live is not None:
            live.cursor += len(entry.deltas)
            live.unanswered, live.failures = None, 0
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
                    await _wait(woken, LIVE_POLL_S if run in self._live else POLL_S)
        finally:
            readers = self._readers[run]
            readers.discard(woken)
            if not readers:
                del self._readers[run]


async def _wait(woken: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await woken.wait()
    except TimeoutError:
        return
