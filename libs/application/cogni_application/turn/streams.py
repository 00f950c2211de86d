"""Deltas of all runs of a process, committed together and shown only then."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from cogni_application.background import forever
from cogni_application.turn.readers import Reader, Readers
from cogni_domain.ports.run_log import LogEntry, NumberedDelta, RunLogPort
from cogni_domain.run_record import Step
from cogni_engine import Delta, TokenDelta, is_terminal
from cogni_kernel import Err, NotFoundError, Ok, RunRef

GATHER_S = 0.004
FRAME_S = 0.03
"""How long the words of a run that speaks are gathered; with what comes on top, a reader waits 40 ms for them."""

POLL_S = 0.1
LIVE_POLL_S = 10.0
PAGE = 500
_log = logging.getLogger(__name__)


@dataclass
class _Live:
    """A run that this process owns.

    Attributes:
        cursor: Of the first delta that waits.
        words: Of a text that no commit holds yet, the last of what waits.
        unanswered: The newest commit of which it is not known whether it is in the log.
        failures: How many commits of this run alone have failed.
        speaks: Whether words of its are in the log: then they are written by the frame.
        due: The loop's time before which nothing more is written.
    """

    epoch: int
    cursor: int = 1
    deltas: list[Delta] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    unanswered: LogEntry | None = None
    failures: int = 0
    speaks: bool = False
    due: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether anything of it is to be committed."""
        return bool(self.deltas or self.words or self.steps)

    def add(self, delta: Delta) -> None:
        """Add a delta; words go with the words before them, as far as no commit may hold those already."""
        if isinstance(delta, TokenDelta):
            self.words.append(delta.text)
        else:
            self.close()
            self.deltas.append(delta)

    def close(self) -> None:
        """Make one delta of the words that wait: another begins after it."""
        if self.words:
            self.deltas.append(TokenDelta("".join(self.words)))
            self.words.clear()


class RunStreams:
    """Writes what runs say, and lets readers follow.

    A delta is released once it is in the log, so no reader ever saw what the log lost. The first words of a run
    are written at once, those after them once in a frame. Readers get what was written from memory; one that
    is too slow for that, or comes later, reads the log.

    Source:
        DESIGN D5.
    """

    def __init__(self, log: RunLogPort, on_lost: Callable[[RunRef], None]) -> None:
        self._log = log
        self._on_lost = on_lost
        self._live: dict[str, _Live] = {}
        self._waiting: set[RunRef] = set()
        self._readers = Readers()
        self._dirty = asyncio.Event()
        self._flushing = asyncio.Lock()

    def begin(self, run: RunRef, epoch: int) -> None:
        """Own a run from now on."""
        self._live[run.value] = _Live(epoch)

    def publish(self, run: RunRef, delta: Delta) -> None:
        """Add a delta; it is shown with the next commit."""
        live = self._live.get(run.value)
        if live is None:
            return
        goes_on = bool(live.words) and isinstance(delta, TokenDelta)
        live.add(delta)
        if goes_on:
            return
        if not live.speaks:
            live.due = 0.0
        self._is_dirty(run)

    def record(self, run: RunRef, step: Step) -> None:
        """Add a step to the run's record; it is kept with the next commit, or with one of its own within a frame."""
        if (live := self._live.get(run.value)) is not None:
            if not live.waits:
                live.due = max(live.due, asyncio.get_running_loop().time() + FRAME_S)
            live.steps.append(step)
            self._is_dirty(run)

    def has_readers(self, run: RunRef) -> bool:
        """Tell whether anybody follows the run in this process."""
        return self._readers.has(run)

    def _is_dirty(self, run: RunRef) -> None:
        self._waiting.add(run)
        self._dirty.set()

    async def write(self) -> None:
        """Commit what has gathered, again and again, until cancelled."""
        await forever(self._write_once, GATHER_S)

    async def _write_once(self) -> None:
        await self._dirty.wait()
        now = asyncio.get_running_loop().time()
        await self._flush([run for run in self._waiting if self._is_due(run, now)])

    def _is_due(self, run: RunRef, now: float) -> bool:
        live = self._live.get(run.value)
        return live is None or live.due <= now

    async def flush(self, run: RunRef | None = None) -> None:
        """Commit everything that has gathered, of one run or of all; what could not be is kept for the next time."""
        await self._flush(list(self._waiting) if run is None else [run])

    async def _flush(self, runs: Sequence[RunRef]) -> None:
        """Commit what has gathered of some runs.

        What cannot be committed together is tried run by run: one that cannot be written holds up no other.
        """
        async with self._flushing:
            waiting = [run for run in runs if (live := self._live.get(run.value)) and live.waits]
            self._waiting.difference_update(runs)
            committed = not waiting or await self._commit(waiting)
            if not committed and len(waiting) > 1:
                await self._commit_singly(waiting)
            self._waiting.update(run for run in waiting if not self.is_settled(run))
            if not self._waiting:
                self._dirty.clear()
            if not committed:
                await asyncio.sleep(POLL_S)

    def is_settled(self, run: RunRef) -> bool:
        """Tell whether nothing of the run waits to be committed."""
        live = self._live.get(run.value)
        return live is None or not live.waits

    async def _commit_singly(self, runs: Sequence[RunRef]) -> None:
        """Commit run by run, those that failed before last; two failures say that the log does not answer."""
        failed = 0
        for run in sorted(filter(self._owns, runs), key=lambda r: self._live[r.value].failures):
            live = self._live.get(run.value)
            if failed < 2 and live is not None and not await self._commit([run]):
                failed += 1
                live.failures += 1

    def _owns(self, run: RunRef) -> bool:
        return run.value in self._live

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
        before = self._live[run.value].unanswered
        if before is not None and before.deltas:
            status = await self._log.status(run)
            if isinstance(status, Err) and not isinstance(status.error, NotFoundError):
                return None
            written = before.first_cursor + len(before.deltas) - 1
            if isinstance(status, Ok) and status.value.last_cursor >= written:
                self._settle(before, lost=False)
        if (live := self._live.get(run.value)) is None:
            return None
        live.close()
        live.unanswered = LogEntry(
            run, live.epoch, live.cursor, tuple(live.deltas), tuple(live.steps)
        )
        return live.unanswered

    def _settle(self, entry: LogEntry, *, lost: bool) -> None:
        run, live = entry.run_ref, self._live.get(entry.run_ref.value)
        if lost:
            self._live.pop(run.value, None)
            self._on_lost(run)
            self._readers.wake(run)
        elif live is not None:
            live.cursor += len(entry.deltas)
            live.unanswered, live.failures = None, 0
            del live.deltas[: len(entry.deltas)]
            del live.steps[: len(entry.steps)]
            live.speaks = live.speaks or any(isinstance(d, TokenDelta) for d in entry.deltas)
            if live.speaks:
                live.due = asyncio.get_running_loop().time() + FRAME_S
            self._tell(run, entry.first_cursor, entry.deltas)

    def _tell(self, run: RunRef, first: int, deltas: Sequence[Delta]) -> None:
        if deltas and self._readers.has(run):
            self._readers.tell(run, [NumberedDelta(n, d) for n, d in enumerate(deltas, first)])

    def end(self, run: RunRef, closing: Sequence[Delta] = ()) -> None:
        """Own a run no longer: it is sealed. `closing` is what its owner sealed it with."""
        live = self._live.pop(run.value, None)
        if live is not None and closing:
            self._tell(run, live.cursor, closing)
        else:
            self._readers.wake(run)

    async def follow(self, run: RunRef, after: int) -> AsyncIterator[NumberedDelta]:
        """Yield the deltas after a cursor, then those to come, up to the terminal one.

        Works for a run of any process that shares the log. Leaving it stops nothing but itself.
        """
        with self._readers.one_of(run) as reader:
            if (live := self._live.get(run.value)) is not None and after == live.cursor - 1:
                reader.catch_up()
            while True:
                for numbered in await self._next(run, reader, after):
                    after = numbered.cursor
                    yield numbered
                    if is_terminal(numbered.delta):
                        return

    async def _next(self, run: RunRef, reader: Reader, after: int) -> Sequence[NumberedDelta]:
        """Return what comes next for a reader; nothing where it is to look again."""
        if reader.is_behind:
            reader.catch_up()
            found = await self._log.deltas(run, after, PAGE)
            if isinstance(found, Ok) and found.value:
                if len(found.value) == PAGE:
                    reader.fall_behind()
                return found.value
            if isinstance(found, Err):
                reader.fall_behind()
                await asyncio.sleep(POLL_S)
                return ()
        if not await reader.wait(LIVE_POLL_S if self._owns(run) else POLL_S):
            reader.fall_behind()
            return ()
        return () if reader.is_behind else reader.take(after)
