from typing import TYPE_CHECKING

import pytest

from cogni_engine import (
    Arguments,
    Completed,
    Emitter,
    Halted,
    HaltReason,
    Message,
    ModelCallStep,
    Proposed,
    RefusalReason,
    RefusalStep,
    Refused,
    Response,
    RunBounds,
    TokenDelta,
    ToolCall,
    ToolCallStep,
    ToolCompletedDelta,
    ToolResult,
)
from cogni_kernel import (
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    Ok,
    Outcome,
    Result,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles


async def test_an_answer_completes_the_run(engine: "Doubles") -> None:
    run = engine.run(engine.answer("Four.", input_tokens=9, output_tokens=1))

    assert await run.outcome() == Completed("Four.")
    assert run.assistant.usage.total == 10
    assert [s.tool_calls for s in run.of(ModelCallStep)] == [0]


async def test_a_tool_is_called_and_its_result_read_before_the_answer(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("Let me look.", engine.call("search", "{}", "c1")),
        engine.answer("Three."),
        tools=[engine.tool("search")],
    )

    assert await run.outcome() == Completed("Three.")
    assert run.observations() == {"c1": '{"content": "three pages", "count": 3}'}
    assert run.model.read[1][-1].text == run.observations()["c1"]
    assert run.model.offered == [("search",), ("search",)]
    [step] = run.of(ToolCallStep)
    assert (step.call_id, step.tool_name, step.tool_version) == ("c1", "search", "1.0.0")
    assert (step.arguments, step.error) == ("{}", None)


async def test_the_screen_gets_an_echo_of_each_call_before_the_answer(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("", engine.call("search", "", "c1")),
        engine.answer("Three."),
        tools=[engine.tool("search")],
    )
    await run.outcome()

    [echo] = run.of(ToolCompletedDelta)
    assert (echo.call_id, echo.tool, echo.arguments) == ("c1", "search", {})
    assert echo.result == "three pages"
    assert 0 <= echo.execution_time < 5
    assert run.deltas.index(echo) < run.deltas.index(TokenDelta("Three."))


async def test_text_is_shown_once_whether_the_model_streams_or_not(engine: "Doubles") -> None:
    async def streaming(emitter: Emitter) -> Result[Response]:
        emitter.emit_token("Thr")
        emitter.emit_token("ee.")
        return Ok(Response("Three."))

    for turn, tokens in ((streaming, ["Thr", "ee."]), (engine.answer("Three."), ["Three."])):
        run = engine.run(turn)

        assert await run.outcome() == Completed("Three.")
        assert [t.text for t in run.of(TokenDelta)] == tokens


async def test_the_first_call_of_an_unoffered_tool_is_answered_without_naming_others(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer("", engine.call("delete_all", "{}", "c1")),
        engine.answer("Sorry."),
        tools=[engine.tool("search"), engine.tool("payroll")],
    )

    assert await run.outcome() == Completed("Sorry.")
    assert run.of(RefusalStep) == [RefusalStep("c1", "delete_all")]
    hint = run.observations()["c1"]
    assert "no such tool" in hint
    assert not any(name in hint for name in ("delete_all", "search", "payroll"))
    assert run.of(ToolCompletedDelta) == []


async def test_a_second_offence_ends_the_turn(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("", engine.call("delete_all"), engine.call("drop_all")),
        engine.answer("", engine.call("search"), engine.call("delete_all")),
        tools=[engine.tool("search")],
    )

    outcome = await run.outcome()

    assert isinstance(outcome, Refused)
    assert outcome.reason is RefusalReason.NOT_OFFERED
    assert outcome.kind is Outcome.REFUSED
    assert len(run.of(RefusalStep)) == 3
    assert len(run.of(ToolCallStep)) == 1
    assert len(run.observations()) == 4


@pytest.mark.parametrize(
    "name",
    [
        "SEARCH",
        "Search",
        "serach",
        "search ",
        "search_",
        "sea\u200brch",
        "s\u0435arch",
        "\uff53earch",
        "sear\u0441h",
        "search\x00",
        "functions.search",
        "",
        "search\ud800",
        "x" * 100_000,
    ],
)
async def test_a_name_that_is_almost_a_tools_is_not_offered(engine: "Doubles", name: str) -> None:
    run = engine.run(
        engine.answer("", ToolCall("c1", name, "{}")),
        engine.answer("Sorry."),
        tools=[engine.tool("search")],
    )

    assert await run.outcome() == Completed("Sorry.")
    [step] = run.of(RefusalStep)
    assert step.tool_name.encode().decode() == step.tool_name


async def test_a_change_is_proposed_and_not_made(engine: "Doubles") -> None:
    made: list[Arguments] = []

    async def change(args: Arguments) -> ToolResult:
        made.append(args)
        return ToolResult.data("done")

    run = engine.run(
        engine.answer("I can book that.", engine.call("book", '{"day": "Monday"}', "c1")),
        tools=[
            engine.tool("book", change, changes=True, parameters=(engine.text_parameter("day"),))
        ],
    )

    outcome = await run.outcome()

    assert isinstance(outcome, Proposed)
    assert outcome.text == "I can book that."
    assert (outcome.mutation.tool_name, outcome.mutation.call_id) == ("book", "c1")
    assert outcome.mutation.arguments == '{"day":"Monday"}'
    assert made == []
    assert "must accept" in run.observations()["c1"]
    assert run.of(ToolCompletedDelta) == []


async def test_the_siblings_of_a_change_are_answered_before_the_turn_ends(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer(
            "",
            engine.call("book", "{}", "c1"),
            engine.call("search", "{}", "c2"),
            engine.call("nowhere", "{}", "c3"),
            engine.call("cancel", "{}", "c4"),
            engine.call("search", "[]", "c5"),
        ),
        tools=[
            engine.tool("book", changes=True),
            engine.tool("cancel", changes=True),
            engine.tool("search"),
        ],
    )

    outcome = await run.outcome()

    assert isinstance(outcome, Proposed)
    assert outcome.mutation.tool_name == "book"
    answers = run.observations()
    assert "accept" in answers["c1"]
    assert "three pages" in answers["c2"]
    assert "no such tool" in answers["c3"]
    assert "already waiting" in answers["c4"]
    assert "one JSON object" in answers["c5"]


async def test_a_change_that_cannot_be_proposed_gives_way_to_the_next(engine: "Doubles") -> None:
    async def full(_: Arguments) -> InvalidArgumentError:
        return InvalidArgumentError(
            HumanText("That day is full."), ModelFacingText("Take another.")
        )

    run = engine.run(
        engine.answer("", engine.call("book", "{}", "c1"), engine.call("wait", "{}", "c2")),
        tools=[
            engine.tool("book", changes=True, preview=full),
            engine.tool("wait", changes=True),
        ],
    )

    outcome = await run.outcome()

    assert isinstance(outcome, Proposed)
    assert outcome.mutation.tool_name == "wait"
    assert run.observations()["c1"] == "Take another."


async def test_an_answer_may_be_empty_text(engine: "Doubles") -> None:
    run = engine.run(engine.answer(""))

    assert await run.outcome() == Completed("")
    assert run.of(TokenDelta) == []


async def test_a_halt_carries_everything_that_was_shown(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("One. ", engine.call("search")),
        engine.answer("Two. ", engine.call("search")),
        tools=[engine.tool("search")],
        bounds=RunBounds(max_tool_calls=1),
    )

    assert await run.outcome() == Halted(HaltReason.CALL_CEILING, "One. Two. ")


async def test_the_thread_keeps_the_question_and_what_was_asked_of_tools(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer("Looking.", engine.call("search", "{}", "c1")),
        engine.answer("Three."),
        tools=[engine.tool("search")],
    )
    await run.outcome()

    question, asked, result = run.assistant.thread.messages
    assert question.text == "How many?"
    assert asked == Message.assistant("Looking.", (ToolCall("c1", "search", "{}"),), "scripted-1")
    assert result.tool_call_id == "c1"
