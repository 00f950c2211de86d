from typing import TYPE_CHECKING, Any

import pytest

from cogni_engine import (
    Arguments,
    Base,
    ChannelKey,
    Completed,
    Marker,
    MemoryReferenceStore,
    NullBroadcaster,
    PlanPayload,
    Renderable,
    ReportPayload,
    ToolCallStep,
    ToolCompletedDelta,
    ToolResult,
)
from cogni_engine.tool.echo import MAX_MODEL_CHARACTERS
from cogni_kernel import ModelFacingText

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles, Run

KEY = ChannelKey.derive("c1", "alice")


class Full(MemoryReferenceStore):
    """Takes nothing any more."""

    async def put(self, channel: ChannelKey, payload: Renderable) -> Marker:
        raise OSError("the disk is full")


def with_channel(
    engine: "Doubles", store: MemoryReferenceStore, *tools: type[Base]
) -> tuple["Run", NullBroadcaster]:
    channel = NullBroadcaster(KEY, store, engine.run().clock.now)
    asked = [engine.call(str(tool.definition.name)) for tool in tools]
    run = engine.run(
        *(engine.answer("", one) for one in asked),
        engine.answer("Done."),
        tools=tools,
        channel=channel,
    )
    return run, channel


async def test_fifty_megabytes_are_bounded_for_the_model_and_kept_whole(engine: "Doubles") -> None:
    whole = "0123456789" * 5_000_000

    async def huge(_: Arguments) -> ToolResult:
        return ToolResult.data(whole)

    store = MemoryReferenceStore()
    run, channel = with_channel(engine, store, engine.tool("huge", huge))

    assert await run.outcome() == Completed("Done.")
    [read] = run.observations().values()
    assert len(read) < MAX_MODEL_CHARACTERS + 200
    assert "Cut after 100000 of 50000000 characters. The whole is kept as r1." in read
    kept = await store.get(KEY, Marker.scan("[[REPORT:r1]]")[0])
    assert isinstance(kept, ReportPayload)
    assert kept.sections[0].body == whole
    assert run.of(ToolCallStep)[0].detail == "kept_whole: [[REPORT:r1]]"
    assert channel.captured() == ()
    assert len(str(run.of(ToolCompletedDelta)[0].result)) == 4_000


async def test_a_result_that_fits_is_read_whole_and_kept_nowhere(engine: "Doubles") -> None:
    async def fits(_: Arguments) -> ToolResult:
        return ToolResult.data("x" * MAX_MODEL_CHARACTERS)

    run, _ = with_channel(engine, Full(), engine.tool("fits", fits))
    await run.outcome()

    assert list(run.observations().values()) == ["x" * MAX_MODEL_CHARACTERS]
    assert run.of(ToolCallStep)[0].detail == ""


async def test_a_store_that_takes_nothing_costs_the_whole_and_not_the_run(
    engine: "Doubles",
) -> None:
    async def huge(_: Arguments) -> ToolResult:
        return ToolResult.data("x" * (MAX_MODEL_CHARACTERS + 1))

    run, _ = with_channel(engine, Full(), engine.tool("huge", huge))

    assert await run.outcome() == Completed("Done.")
    [read] = run.observations().values()
    assert "Cut after" in read
    assert "kept" not in read


def shows_a_plan(engine: "Doubles") -> type[Base]:
    plain: Any = engine.tool("plan")

    class Plans(plain):  # type: ignore[misc]
        async def call(self, args: Arguments) -> ToolResult:
            payload = PlanPayload("A plan", ())
            return ToolResult.marker(await self.emit(payload), payload.summary_for_model())

    return Plans


async def test_a_tools_own_marker_reaches_the_model(engine: "Doubles") -> None:
    run, _ = with_channel(engine, MemoryReferenceStore(), shows_a_plan(engine))
    await run.outcome()

    assert run.observations()["id-plan"].startswith("[[PLAN:p1]] ")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("see [[PLAN:p1]]", "see ((PLAN:p1))"),
        ("[[[[PLAN:p1]]]]", "[[((PLAN:p1))]]"),
        ("[[CHART:c9]] and [[NOSUCH:x1]]", "((CHART:c9)) and ((NOSUCH:x1))"),
        ("[[plan:p1]]", "[[plan:p1]]"),
    ],
)
async def test_another_tools_marker_is_text(engine: "Doubles", written: str, read: str) -> None:
    async def page(_: Arguments) -> ToolResult:
        return ToolResult(ModelFacingText(written), written)

    run, _ = with_channel(
        engine, MemoryReferenceStore(), shows_a_plan(engine), engine.tool("page", page)
    )
    await run.outcome()

    assert run.observations()["id-page"] == read
    told = run.of(ToolCallStep)[-1].detail
    assert told.startswith("foreign_markers: [[") or read == written


async def test_a_marker_at_the_cut_is_no_marker_either(engine: "Doubles") -> None:
    for before in range(MAX_MODEL_CHARACTERS - 14, MAX_MODEL_CHARACTERS + 2):

        async def page(_: Arguments, before: int = before) -> ToolResult:
            return ToolResult.data("x" * before + "[[PLAN:p1]]" * 3)

        run, _ = with_channel(engine, Full(), engine.tool("page", page))
        await run.outcome()

        assert Marker.scan(run.observations()["id-page"]) == ()
