from typing import TYPE_CHECKING

from cogni_engine import (
    Arguments,
    Completed,
    Halted,
    HaltReason,
    Proposed,
    RunBounds,
    ToolCallStep,
    ToolResult,
)
from cogni_kernel import HumanText, UpstreamError

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


async def test_at_the_ceiling_the_model_says_what_it_found_and_the_run_is_halted(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer(
            "Looking. ", engine.call("search", "", "c1"), engine.call("search", "", "c2")
        ),
        engine.answer("Three pages so far."),
        tools=[engine.tool("search")],
        bounds=RunBounds(max_tool_calls=1),
    )

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "Looking. Three pages so far.")
    assert "Answer now" in run.observations()["c2"]


async def test_last_words_are_one_call_of_the_model_and_what_they_ask_for_is_answered_unrun(
    engine: "Doubles",
) -> None:
    asking = [engine.answer("", engine.call("search", "", f"c{n}")) for n in range(9)]
    run = engine.run(*asking, tools=[engine.tool("search")], bounds=RunBounds(max_tool_calls=2))

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "")
    assert len(run.model.read) == 4
    assert len(run.observations()) == 4
    assert [s.error for s in run.of(ToolCallStep)] == [None, None, "BeyondBounds", "BeyondBounds"]


async def test_a_provider_that_fails_at_the_last_words_leaves_the_halt_as_it_is(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer("One. ", engine.call("search", "", "c1"), engine.call("search", "", "c2")),
        UpstreamError(HumanText("Down."), retryable=False),
        tools=[engine.tool("search")],
        bounds=RunBounds(max_tool_calls=1),
    )

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "One. ")


async def test_two_hundred_calls_at_once_are_each_answered_and_ten_are_run(
    engine: "Doubles",
) -> None:
    ran: list[Arguments] = []

    async def counted(args: Arguments) -> ToolResult:
        ran.append(args)
        return ToolResult.data("done")

    names = ["search", "SEARCH", "payroll", "book"]
    calls = [engine.call(names[n % 4], "{}", f"c{n % 150}") for n in range(200)]
    run = engine.run(
        engine.answer("", *calls),
        engine.answer("Enough."),
        tools=[engine.tool("search", counted), engine.tool("book", changes=True)],
    )

    outcome = await run.outcome()

    assert isinstance(outcome, Proposed)
    assert len(ran) == 3
    assert len(run.observations()) == 200
