from typing import TYPE_CHECKING

from cogni_engine import (
    Arguments,
    Completed,
    Halted,
    HaltReason,
    RunBounds,
    ToolCallStep,
    ToolResult,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles


async def test_fifty_calls_in_one_answer_cannot_pass_a_ceiling_of_ten(engine: "Doubles") -> None:
    ran: list[Arguments] = []

    async def counted(args: Arguments) -> ToolResult:
        ran.append(args)
        return ToolResult.data("done")

    calls = [engine.call("search", "{}", f"c{n}") for n in range(50)]
    run = engine.run(engine.answer("", *calls), tools=[engine.tool("search", counted)])

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "")
    assert len(ran) == 10
    assert len(run.observations()) == 50
    assert sum(s.error == "BeyondBounds" for s in run.of(ToolCallStep)) == 40


async def test_calls_that_were_refused_or_malformed_count_as_well(engine: "Doubles") -> None:
    calls = [engine.call("search", "[]", "c1"), engine.call("search", "{}", "c2")]
    run = engine.run(
        engine.answer("", *calls), tools=[engine.tool("search")], bounds=RunBounds(max_tool_calls=1)
    )

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "")
    assert [s.error for s in run.of(ToolCallStep)] == ["InvalidArgument", "BeyondBounds"]


async def test_a_change_beyond_the_ceiling_is_not_proposed(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("", engine.call("search", "", "c1"), engine.call("book", "", "c2")),
        tools=[engine.tool("search"), engine.tool("book", changes=True)],
        bounds=RunBounds(max_tool_calls=1),
    )

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "")


async def test_exactly_as_many_calls_as_allowed_still_give_an_answer(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("", engine.call("search", "", "c1"), engine.call("search", "", "c2")),
        engine.answer("Done."),
        tools=[engine.tool("search")],
        bounds=RunBounds(max_tool_calls=2),
    )

    assert await run.outcome() == Completed("Done.")
