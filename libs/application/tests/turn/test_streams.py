"""The log of runs: written together, in order, without loss; followed from any cursor."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogni_adapters.memory.run_log import MemoryRunLogAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_application.turn import streams as module
from cogni_application.turn.readers import MOST_KEPT
from cogni_application.turn.streams import RunStreams
from cogni_domain.ports.run_log import Ending, LogEntry, NumberedDelta, RunStatus
from cogni_domain.run_record import StripStep
from cogni_engine import CitationDelta, Delta, DoneDelta, PhaseDelta, TokenDelta
from cogni_kernel import Err, HumanText, Result, RunRef, UpstreamError
from cogni_testing import START, ok
from cogni_testing.contracts.runs import a_sealing, an_opening

DOWN = Err(UpstreamError(HumanText("The database does not answer.")))
R1, R2, R3 = RunRef("r1"), RunRef("r2"), RunRef("r3")


class Log(MemoryRunLogAdapter):
    """A log that a test can break: before a commit, or after it."""

    def __init__(self) -> None:
        super().__init__(MemoryState())
        self.appends = 0
        self.fails = 0
        self.forgets = 0
        self.status_fails = 0
        self.poisoned: frozenset[RunRef] = frozenset()

    async def append(self, entries: Sequence[LogEntry]) -> Result[frozenset[RunRef]]:
        self.appends += 1
        if self.fails > 0:
            self.fails -= 1
            return DOWN
        if self.poisoned & {entry.run_ref for entry in entries}:
            raise ValueError("cannot be encoded")
        written = await super().append(entries)
        if self.forgets > 0:
            self.forgets -= 1
            return DOWN
        return written

    async def status(self, run: RunRef) -> Result[RunStatus]:
        if self.status_fails > 0:
            self.status_fails -= 1
            return DOWN
        return await super().status(run)

    async def end(self, run: RunRef, epoch: int) -> None:
        ok(await self.seal(run, epoch, Ending(a_sealing(), [DoneDelta({})])))


Make = Callable[[Log], Awaitable[tuple[RunStreams, list[RunRef]]]]


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.001)
    monkeypatch.setattr(module, "LIVE_POLL_S", 0.05)


@pytest.fixture
def make() -> Make:
    async def opened(log: Log) -> tuple[RunStreams, list[RunRef]]:
        lost: list[RunRef] = []
        streams = RunStreams(log, lost.append)
        for run in (R1, R2, R3):
            found = ok(await log.open(an_opening(str(run), str(run)), "me", START, []))
            streams.begin(run, found.epoch)
        return streams, lost

    return opened


async def read(streams: RunStreams, run: RunRef, after: int = 0) -> list[NumberedDelta]:
    async with asyncio.timeout(60):
        return [numbered async for numbered in streams.follow(run, after)]


def say(streams: RunStreams, run: RunRef, text: str) -> None:
    """Publish a delta for each character, of a kind that stays as it is."""
    for char in text:
        streams.publish(run, PhaseDelta("composing", char))


def speak(streams: RunStreams, run: RunRef, *words: str) -> None:
    for word in words:
        streams.publish(run, TokenDelta(word))


def text_of(log: Log, run: RunRef) -> str:
    return "".join(getattr(delta, "detail", "") for delta in log._state.runs[run].deltas)


def deltas_of(log: Log, run: RunRef) -> list[Delta]:
    return list(log._state.runs[run].deltas)


async def test_runs_are_committed_together(log: Log, make: Make) -> None:
    streams, _ = await make(log)
    for run in (R1, R2, R3):
        say(streams, run, "abc")
        streams.record(run, StripStep("url", "x"))

    await streams.flush()
    await streams.flush()

    assert log.appends == 1
    assert [text_of(log, run) for run in (R1, R2, R3)] == ["abc"] * 3
    assert all(streams.is_settled(run) for run in (R1, R2, R3))


@pytest.mark.parametrize("after", range(7))
async def test_a_reader_that_resumes_gets_exactly_what_comes_after_its_cursor(
    log: Log, make: Make, after: int
) -> None:
    streams, _ = await make(log)
    say(streams, R1, "abcdef")
    await streams.flush()
    await log.end(R1, 1)

    found = await read(streams, R1, after)

    assert [numbered.cursor for numbered in found] == list(range(after + 1, 8))


async def test_readers_see_the_same_whenever_they_come_and_however_slow_they_are(
    log: Log, make: Make
) -> None:
    streams, _ = await make(log)
    writing = asyncio.create_task(streams.write())

    async def slowly() -> list[NumberedDelta]:
        found = []
        async for numbered in streams.follow(R1, 0):
            found.append(numbered)
            await asyncio.sleep(0.002)
        return found

    slow, quick = asyncio.create_task(slowly()), asyncio.create_task(read(streams, R1))
    for char in "twenty-six weeks":
        say(streams, R1, char)
        await asyncio.sleep(0)
    late = asyncio.create_task(read(streams, R1, 5))
    await streams.flush()
    await log.end(R1, 1)
    streams.end(R1)

    whole = await quick
    assert await slow == whole
    assert await late == whole[5:]
    assert [numbered.cursor for numbered in whole] == list(range(1, 18))
    writing.cancel()
    await asyncio.wait([writing])


async def test_a_run_of_another_process_is_followed_too(log: Log, make: Make) -> None:
    streams, _ = await make(log)
    elsewhere = RunStreams(log, lambda _: None)
    reading = asyncio.create_task(read(elsewhere, R1))
    await asyncio.sleep(0.01)

    say(streams, R1, "abc")
    await streams.flush()
    await log.end(R1, 1)

    assert len(await reading) == 4
    assert not elsewhere.has_readers(R1)


async def test_nothing_is_shown_before_it_is_in_the_log(log: Log, make: Make) -> None:
    streams, _ = await make(log)
    log.fails = 5
    say(streams, R1, "abc")
    reading = streams.follow(R1, 0)

    async def next_one() -> NumberedDelta:
        return await anext(reading)

    first = asyncio.create_task(next_one())

    for _ in range(4):
        await streams.flush()
        assert not first.done()
    for _ in range(3):
        await streams.flush()

    assert (await first).delta == PhaseDelta("composing", "a")
    await reading.aclose()  # type: ignore[attr-defined]


async def test_a_log_that_is_down_for_a_while_loses_and_doubles_nothing(
    log: Log, make: Make
) -> None:
    streams, lost = await make(log)
    log.fails = 7
    for n in range(12):
        say(streams, R1, str(n % 10))
        say(streams, R2, "x")
        await streams.flush()
    await streams.flush()

    assert text_of(log, R1) == "012345678901"
    assert text_of(log, R2) == "x" * 12
    assert lost == []


async def test_a_commit_that_was_not_answered_is_not_repeated(log: Log, make: Make) -> None:
    streams, lost = await make(log)
    log.forgets, log.status_fails = 3, 4
    for n in range(9):
        say(streams, R1, str(n))
        streams.record(R1, StripStep("url", str(n)))
        await streams.flush()
    for _ in range(9):
        await streams.flush()

    assert text_of(log, R1) == "012345678"
    assert [step["text"] for step in log._state.runs[R1].steps] == list("012345678")
    assert lost == []


async def test_a_run_that_cannot_be_written_holds_up_no_other(log: Log, make: Make) -> None:
    streams, lost = await make(log)
    log.poisoned = frozenset({R1})
    for n in range(5):
        for run in (R1, R2, R3):
            say(streams, run, str(n))
        await streams.flush()
        await streams.flush()

    assert [text_of(log, run) for run in (R1, R2, R3)] == ["", "01234", "01234"]
    assert [streams.is_settled(run) for run in (R1, R2, R3)] == [False, True, True]
    assert lost == []


async def test_who_lost_a_run_is_told_and_writes_nothing_more(log: Log, make: Make) -> None:
    streams, lost = await make(log)
    say(streams, R1, "ab")
    await streams.flush()
    await log.end(R1, 1)

    say(streams, R1, "late")
    say(streams, R2, "fine")
    await streams.flush()
    say(streams, R1, "later")
    await streams.flush()

    assert lost == [R1]
    assert text_of(log, R1) == "ab"
    assert text_of(log, R2) == "fine"


async def test_what_is_said_of_a_run_that_is_not_owned_goes_nowhere(log: Log, make: Make) -> None:
    streams, lost = await make(log)
    streams.end(R1)

    say(streams, R1, "late")
    streams.record(R1, StripStep("url", "x"))
    await streams.flush()

    assert (text_of(log, R1), log.appends, lost) == ("", 0, [])


async def test_a_run_that_vanished_from_the_log_is_lost(log: Log, make: Make) -> None:
    streams, lost = await make(log)
    log.fails = 1
    say(streams, R1, "a")
    await streams.flush()
    del log._state.runs[R1]
    await streams.flush()

    assert lost == [R1]


async def test_a_bug_in_the_log_does_not_end_the_writing(log: Log, make: Make) -> None:
    streams, _ = await make(log)
    log.poisoned = frozenset({R1})
    writing = asyncio.create_task(streams.write())
    say(streams, R1, "a")
    await asyncio.sleep(0.02)
    log.poisoned = frozenset()
    await log.end(R2, 1)
    async with asyncio.timeout(60):
        while text_of(log, R1) != "a":
            await asyncio.sleep(0.005)

    assert not writing.done()
    writing.cancel()
    await asyncio.wait([writing])


async def test_readers_outlive_a_log_that_does_not_answer(
    log: Log, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, _ = await make(log)
    say(streams, R1, "abc")
    await streams.flush()
    await log.end(R1, 1)
    answers = iter([False, True, False, False])
    whole = log.deltas

    async def now_and_then(run: RunRef, after: int, limit: int) -> Result[Sequence[NumberedDelta]]:
        return await whole(run, after, limit) if next(answers, True) else DOWN

    monkeypatch.setattr(log, "deltas", now_and_then)

    assert len(await read(streams, R1)) == 4


async def test_words_that_wait_together_are_one_delta_and_never_change_places(
    log: Log, make: Make
) -> None:
    streams, _ = await make(log)
    source = CitationDelta("s1", "Leave", "page 3")

    speak(streams, R1, "Everybody ", "gets ")
    streams.publish(R1, source)
    speak(streams, R1, "[s1]", ".")
    await streams.flush()

    assert deltas_of(log, R1) == [TokenDelta("Everybody gets "), source, TokenDelta("[s1].")]


async def test_words_that_come_while_others_are_written_are_not_counted_among_them(
    log: Log, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, _ = await make(log)
    whole = log.append

    async def slowly(entries: Sequence[LogEntry]) -> Result[frozenset[RunRef]]:
        speak(streams, R1, "b")
        written = await whole(entries)
        speak(streams, R1, "c")
        return written

    monkeypatch.setattr(log, "append", slowly)
    speak(streams, R1, "a")
    await streams.flush()
    monkeypatch.setattr(log, "append", whole)
    await streams.flush()

    assert deltas_of(log, R1) == [TokenDelta("a"), TokenDelta("bc")]


async def test_words_after_a_commit_that_was_not_answered_are_neither_lost_nor_doubled(
    log: Log, make: Make
) -> None:
    streams, _ = await make(log)
    log.forgets = 2
    for word in "abcd":
        speak(streams, R1, word)
        await streams.flush()

    said = "".join(delta.text for delta in deltas_of(log, R1) if isinstance(delta, TokenDelta))
    assert said == "abcd"


async def test_the_first_words_are_written_at_once_and_those_after_them_by_the_frame(
    log: Log, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRAME_S", 3600)
    streams, _ = await make(log)
    writing = asyncio.create_task(streams.write())
    reading = streams.follow(R1, 0)
    speak(streams, R1, "first")

    assert (await anext(reading)).delta == TokenDelta("first")
    speak(streams, R1, " then")
    speak(streams, R2, "of another")
    await asyncio.sleep(0.05)
    assert deltas_of(log, R1) == [TokenDelta("first")]
    assert deltas_of(log, R2) == [TokenDelta("of another")]
    speak(streams, R1, " more")
    await streams.flush(R1)

    assert (await anext(reading)).delta == TokenDelta(" then more")
    writing.cancel()
    await asyncio.wait([writing])
    await reading.aclose()  # type: ignore[attr-defined]


async def test_a_reader_is_served_from_memory_and_a_slow_one_from_the_log(
    log: Log, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, _ = await make(log)
    reads, whole = 0, log.deltas

    async def counted(run: RunRef, after: int, limit: int) -> Result[Sequence[NumberedDelta]]:
        nonlocal reads
        reads += 1
        return await whole(run, after, limit)

    monkeypatch.setattr(log, "deltas", counted)
    quick, slow = streams.follow(R1, 0), streams.follow(R1, 0)
    say(streams, R1, "a")
    await streams.flush()
    assert await anext(quick) == await anext(slow)
    before = reads
    for _ in range(MOST_KEPT + 1):
        say(streams, R1, "b")
        await streams.flush()
        await anext(quick)
    assert reads == before

    late = [await anext(slow) for _ in range(MOST_KEPT + 1)]

    assert reads == before + 1
    assert [numbered.cursor for numbered in late] == list(range(2, MOST_KEPT + 3))
    for reading in (quick, slow):
        await reading.aclose()  # type: ignore[attr-defined]
    assert not streams.has_readers(R1)


async def test_the_owners_last_words_reach_readers_without_the_log(log: Log, make: Make) -> None:
    streams, _ = await make(log)
    reading = asyncio.create_task(read(streams, R1))
    say(streams, R1, "ab")
    await streams.flush()
    await asyncio.sleep(0.01)
    await log.end(R1, 1)

    streams.end(R1, [DoneDelta({})])

    assert [numbered.cursor for numbered in await reading] == [1, 2, 3]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(["speak", "say", "flush", "fail", "forget", "pause"]), st.just("speak")
        ),
        max_size=40,
    ),
    st.data(),
)
def test_whatever_happens_every_reader_hears_all_of_it_once(
    steps: Sequence[str], data: st.DataObject
) -> None:
    asyncio.run(_heard_once(steps, data.draw(st.integers(0, len(steps)))))


async def _heard_once(steps: Sequence[str], joins: int) -> None:
    log, said = Log(), ""
    streams = RunStreams(log, lambda _: None)
    ok(await log.open(an_opening("r1", "r1"), "me", START, []))
    streams.begin(R1, 1)
    readings = [asyncio.create_task(read(streams, R1))]
    for n, step in enumerate(steps):
        if n == joins:
            readings.append(asyncio.create_task(read(streams, R1)))
        said += await _done(step, str(n % 10), streams, log)
    log.fails = log.forgets = 0
    for _ in range(9):
        await streams.flush()
    await log.end(R1, 1)
    streams.end(R1, [DoneDelta({})])
    for heard in [await reading for reading in readings]:
        assert [numbered.cursor for numbered in heard] == list(range(1, len(heard) + 1))
        words = (getattr(n.delta, "text", "") + getattr(n.delta, "detail", "") for n in heard)
        assert "".join(words) == said


async def _done(step: str, word: str, streams: RunStreams, log: Log) -> str:
    match step:
        case "speak":
            speak(streams, R1, word)
            return word
        case "say":
            say(streams, R1, word)
            return word
        case "flush":
            await streams.flush()
        case "fail":
            log.fails += 1
        case "forget":
            log.forgets += 1
        case _:
            await asyncio.sleep(0)
    return ""


async def test_a_step_alone_waits_for_words_or_for_its_frame(
    log: Log, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRAME_S", 3600.0)
    streams, _ = await make(log)
    writing = asyncio.create_task(streams.write())
    streams.record(R1, StripStep("url", "x"))
    await asyncio.sleep(0.02)
    alone = log.appends

    speak(streams, R1, "first ")
    while not streams.is_settled(R1):
        await asyncio.sleep(0.001)
    writing.cancel()

    assert (alone, log.appends) == (0, 1)
    assert len(log._state.runs[R1].steps) == 1


async def test_who_has_all_that_was_written_of_a_run_of_this_process_reads_no_log(
    log: Log, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, _ = await make(log)
    say(streams, R1, "a")
    await streams.flush()
    read_log: list[int] = []
    deltas = log.deltas

    async def counted(run: RunRef, after: int, limit: int) -> Result[Sequence[NumberedDelta]]:
        read_log.append(after)
        return await deltas(run, after, limit)

    monkeypatch.setattr(log, "deltas", counted)
    reading = asyncio.create_task(read(streams, R1, 1))
    await asyncio.sleep(0)
    say(streams, R1, "b")
    await streams.flush()
    streams.end(R1, [DoneDelta({})])

    assert [n.cursor for n in await reading] == [2, 3]
    assert read_log == []
