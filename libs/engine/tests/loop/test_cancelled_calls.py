import asyncio
from typing import TYPE_CHECKING

import pytest

from cogni_engine import (
    Arguments,
    ToolCallStep,
    ToolResult,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles


async def endless(_: Arguments) -> ToolResult:
    await asyncio.sleep(60)
    raise AssertionError


async def test_a_cancelled_run_leaves_no_tool_running_and_no_call_unanswered(
    engine: "Doubles",
) -> None:
    ended: list[str] = []
    started = asyncio.Event()

    async def slow_to_end(_: Arguments) -> ToolResult:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append("slow")
        raise AssertionError

    run = engine.run(
        engine.answer(
            "",
            engine.call("search", "", "c1"),
            engine.call("slow", "", "c2"),
            engine.call("endless", "", "c3"),
        ),
        tools=[
            engine.tool("search"),
            engine.tool("slow", slow_to_end),
            engine.tool("endless", endless),
        ],
    )
    task = asyncio.create_task(run.loop.execute())
    await started.wait()
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["slow"]
    answers = run.observations()
    assert "three pages" in answers["c1"]
    assert "stopped" in answers["c2"]
    assert "stopped" in answers["c3"]
    assert sorted((s.call_id, s.error) for s in run.of(ToolCallStep)) == [
        ("c1", None),
        ("c2", "Cancelled"),
        ("c3", "Cancelled"),
    ]


async def test_a_cancellation_during_a_proposal_passes_through(engine: "Doubles") -> None:
    started = asyncio.Event()

    async def slow(_: Arguments) -> ToolResult:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ValueError("cleaning up went wrong") from None
        raise AssertionError

    run = engine.run(
        engine.answer("", engine.call("book", "", "c1")),
        tools=[engine.tool("book", changes=True, preview=slow)],
    )
    task = asyncio.create_task(run.loop.execute())
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert "stopped" in run.observations()["c1"]


async def test_a_bug_above_the_engine_ends_every_tool_under_way(engine: "Doubles") -> None:
    ended: list[str] = []

    async def noted(_: Arguments) -> ToolResult:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("noted")
        raise AssertionError

    run = engine.run(
        engine.answer("", engine.call("noted", "", "c1"), engine.call("search", "", "c2")),
        tools=[engine.tool("noted", noted), engine.tool("search")],
    )

    def full_disk(step: object) -> None:
        if isinstance(step, ToolCallStep) and step.error is None:
            raise OSError("no space left")

    run.assistant._on_step = full_disk

    with pytest.raises(ExceptionGroup) as bug:
        await run.loop.execute()
    assert bug.group_contains(OSError, match="no space left")
    assert ended == ["noted"]
