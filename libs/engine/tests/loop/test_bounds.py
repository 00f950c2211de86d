import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    Arguments,
    Completed,
    Emitter,
    Halted,
    HaltReason,
    Message,
    Response,
    RunBounds,
    RunState,
    Thread,
    ToolResult,
)
from cogni_engine.calls import BEYOND_BOUNDS
from cogni_kernel import Err, HumanText, Ok, Result, TokenCount, UpstreamError

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
seconds = st.floats(0, 10_000).map(lambda s: timedelta(seconds=s))


def state(
    tool_calls: int = 0, context: int = 0, now: datetime = NOON, elapsed: timedelta = timedelta()
) -> RunState:
    return RunState(tool_calls, TokenCount(context), now, elapsed)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(1, 30))
def test_a_run_halts_only_beyond_a_ceiling(calls: int, most: int, tokens: int, room: int) -> None:
    bounds = RunBounds(max_tool_calls=most, max_context=TokenCount(room))
    reason = bounds.check(state(calls, tokens))

    assert (reason is None) is (calls <= most and tokens <= room)
    assert (reason is HaltReason.CALL_CEILING) is (calls > most)


@given(seconds, seconds, st.floats(1, 10_000))
def test_the_earlier_of_deadline_and_wall_clock_counts(
    elapsed: timedelta, until: timedelta, wall: float
) -> None:
    clock = timedelta(seconds=wall)
    bounds = RunBounds(max_wall_clock=clock, deadline=NOON + until)
    left = bounds.remaining(NOON, elapsed)

    assert left == max(min(clock - elapsed, until), timedelta())
    assert (bounds.check(state(elapsed=elapsed)) is HaltReason.DEADLINE) is (not left)


def test_a_run_without_a_deadline_has_its_wall_clock() -> None:
    assert RunBounds(max_wall_clock=timedelta(seconds=5)).remaining(NOON) == timedelta(seconds=5)
    assert RunBounds(max_wall_clock=timedelta.max).check(state()) is None


@pytest.mark.parametrize(
    "bounds",
    [
        {"max_tool_calls": -1},
        {"max_context": 0},
        {"max_wall_clock": timedelta()},
        {"deadline": datetime(2026, 3, 2)},  # noqa: DTZ001 - what is refused
    ],
)
def test_bounds_that_bound_nothing_are_refused(bounds: dict[str, TokenCount]) -> None:
    with pytest.raises(ValueError, match=r"positive|aware"):
        RunBounds(**bounds)  # type: ignore[arg-type]


async def test_a_deadline_that_has_passed_asks_no_model(engine: "Doubles") -> None:
    run = engine.run(engine.answer("Never."), bounds=RunBounds(deadline=NOON))

    assert await run.outcome() == Halted(HaltReason.DEADLINE, "")
    assert run.model.read == []


@pytest.mark.parametrize(
    "bounds",
    [
        RunBounds(deadline=NOON + timedelta(seconds=30)),
        RunBounds(max_wall_clock=timedelta(seconds=30)),
    ],
)
async def test_time_that_passes_in_a_tool_ends_the_run(
    engine: "Doubles", bounds: RunBounds
) -> None:
    async def slow(_: Arguments) -> ToolResult:
        run.clock.move(31)
        return ToolResult.data("late")

    run = engine.run(
        engine.answer("Looking. ", engine.call("slow", "", "c1")),
        tools=[engine.tool("slow", slow)],
        bounds=bounds,
    )

    assert await run.outcome() == Halted(HaltReason.DEADLINE, "Looking. ")
    assert run.observations() == {"c1": "late"}


async def test_time_that_passes_in_the_model_keeps_its_calls_from_running(
    engine: "Doubles",
) -> None:
    async def slow(_: Emitter) -> Result[Response]:
        run.clock.move(31)
        return Ok(engine.answer("", engine.call("search", "", "c1")))

    run = engine.run(
        slow, tools=[engine.tool("search")], bounds=RunBounds(max_wall_clock=timedelta(seconds=30))
    )

    assert await run.outcome() == Halted(HaltReason.DEADLINE, "")
    assert run.observations() == {"c1": str(BEYOND_BOUNDS)}


async def test_a_model_that_hangs_is_cancelled_and_what_it_said_is_kept(engine: "Doubles") -> None:
    async def hangs(emitter: Emitter) -> Result[Response]:
        emitter.emit_token("So far")
        await asyncio.sleep(60)
        raise AssertionError

    run = engine.run(hangs, bounds=RunBounds(max_wall_clock=timedelta(milliseconds=20)))

    assert await run.outcome() == Halted(HaltReason.DEADLINE, "So far")
    assert run.assistant.usage.is_absent


async def test_a_tool_that_hangs_is_cancelled_and_its_call_answered(engine: "Doubles") -> None:
    async def hangs(_: Arguments) -> ToolResult:
        await asyncio.sleep(60)
        raise AssertionError

    run = engine.run(
        engine.answer("", engine.call("hangs", "", "c1")),
        tools=[engine.tool("hangs", hangs)],
        bounds=RunBounds(max_wall_clock=timedelta(milliseconds=20)),
    )

    assert await run.outcome() == Halted(HaltReason.DEADLINE, "")
    assert "stopped" in run.observations()["c1"]


async def test_a_tool_that_is_deaf_to_cancellation_cannot_go_on(engine: "Doubles") -> None:
    async def deaf(_: Arguments) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return ToolResult.data("as if nothing had been")
        raise AssertionError

    run = engine.run(
        engine.answer("", engine.call("deaf", "", "c1")),
        tools=[engine.tool("deaf", deaf)],
        bounds=RunBounds(max_wall_clock=timedelta(milliseconds=20)),
    )

    assert await run.outcome() == Halted(HaltReason.DEADLINE, "")


async def test_a_thread_that_cannot_be_made_to_fit_halts_the_run(engine: "Doubles") -> None:
    thread = Thread((Message.user(HumanText("x" * 4_000)),))
    run = engine.run(thread=thread, bounds=RunBounds(max_context=TokenCount(500)))

    assert await run.outcome() == Halted(HaltReason.CONTEXT_CEILING, "")
    assert run.model.read == []


async def test_an_observation_that_fills_the_context_halts_the_run(engine: "Doubles") -> None:
    async def huge(_: Arguments) -> ToolResult:
        return ToolResult.data("x" * 10_000)

    run = engine.run(
        engine.answer("", engine.call("huge", "", "c1")),
        tools=[engine.tool("huge", huge)],
        bounds=RunBounds(max_context=TokenCount(1_000)),
    )

    assert await run.outcome() == Halted(HaltReason.CONTEXT_CEILING, "")


async def test_an_older_observation_gives_way_so_that_the_run_goes_on(engine: "Doubles") -> None:
    async def long(_: Arguments) -> ToolResult:
        return ToolResult.data("x" * 3_000)

    run = engine.run(
        engine.answer("", engine.call("long", "", "c1")),
        engine.answer("", engine.call("long", "", "c2")),
        engine.answer("Done."),
        tools=[engine.tool("long", long)],
        bounds=RunBounds(max_context=TokenCount(1_000)),
    )

    assert await run.outcome() == Completed("Done.")
    answers = run.observations()
    assert "left out" in answers["c1"]
    assert answers["c2"] == "x" * 3_000


async def test_no_wait_is_begun_that_the_deadline_would_cut_off(engine: "Doubles") -> None:
    later = UpstreamError(HumanText("Busy."), detail={"retry_after_s": 8})
    run = engine.run(
        later,
        engine.answer("Never."),
        bounds=RunBounds(deadline=NOON + timedelta(seconds=8)),
    )

    await run.outcome()

    assert run.waits == []
    assert len(run.model.read) == 1


async def test_a_wait_shortens_what_is_left(engine: "Doubles") -> None:
    async def busy(_: Emitter) -> Result[Response]:
        return Err(UpstreamError(HumanText("Busy."), detail={"retry_after_s": 8}))

    run = engine.run(
        busy, busy, engine.answer("Never."), bounds=RunBounds(max_wall_clock=timedelta(seconds=15))
    )

    await run.outcome()

    assert run.waits == [8.0]
    assert len(run.model.read) == 2
