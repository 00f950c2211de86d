import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from cogni_engine import (
    Arguments,
    Completed,
    Echo,
    EchoForm,
    Parameter,
    ParameterType,
    ToolCallStep,
    ToolCompletedDelta,
    ToolResult,
)
from cogni_kernel import (
    HumanText,
    ModelFacingText,
    NotFoundError,
    Ok,
    Result,
    UpstreamError,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles, Run

STRUCTURED = Echo(EchoForm.STRUCTURED)


async def breaks(_: Arguments) -> ToolResult:
    raise KeyError("row 41")


def one_call(engine: "Doubles", work: Any, echo: Echo | None = None) -> "Run":
    return engine.run(
        engine.answer("", engine.call("search", "{}", "c1")),
        engine.answer("Done."),
        tools=[engine.tool("search", work, echo=echo)],
    )


async def test_a_tool_that_raises_is_told_to_the_model_and_recorded(engine: "Doubles") -> None:
    run = one_call(engine, breaks)

    assert await run.outcome() == Completed("Done.")
    assert "did not work" in run.observations()["c1"]
    assert "row 41" not in run.observations()["c1"]
    [step] = run.of(ToolCallStep)
    assert step.error == "Upstream"
    assert "KeyError: 'row 41'" in step.detail
    [echo] = run.of(ToolCompletedDelta)
    assert "row 41" not in str(echo.result)
    assert not run.assistant.holds_evidence


@pytest.mark.parametrize("given", [None, "text", {"content": "x"}, 0, NotFoundError, ToolResult])
async def test_a_tool_that_gives_something_else_is_broken(engine: "Doubles", given: object) -> None:
    async def odd(_: Arguments) -> object:
        return given

    run = one_call(engine, odd)

    assert await run.outcome() == Completed("Done.")
    [step] = run.of(ToolCallStep)
    assert step.error == "Upstream"
    assert "neither a ToolResult nor an Error" in step.detail


async def test_a_tool_that_cannot_be_built_is_broken(engine: "Doubles") -> None:
    run = one_call(engine, None)
    [tool] = run.assistant.tools.entries

    def refuse(*_: object) -> None:
        raise RuntimeError("no connection")

    tool.__init__ = refuse  # type: ignore[method-assign,assignment]

    assert await run.outcome() == Completed("Done.")
    assert "no connection" in run.of(ToolCallStep)[0].detail


async def test_an_error_hints_the_model_and_tells_the_person(engine: "Doubles") -> None:
    async def missing(_: Arguments) -> NotFoundError:
        return NotFoundError(
            HumanText("There is no such request."),
            ModelFacingText("Ask for the number."),
            detail={"table": "requests"},
        )

    run = one_call(engine, missing)
    await run.outcome()

    assert run.observations() == {"c1": "Ask for the number."}
    assert run.of(ToolCompletedDelta)[0].result == "There is no such request."
    [step] = run.of(ToolCallStep)
    assert (step.error, step.detail) == ("NotFound", "table: requests")


async def test_an_error_without_a_hint_tells_the_model_what_the_person_reads(
    engine: "Doubles",
) -> None:
    async def missing(_: Arguments) -> NotFoundError:
        return NotFoundError(HumanText("There is no such request."))

    run = one_call(engine, missing, STRUCTURED)
    await run.outcome()

    assert run.observations() == {"c1": "The call failed: There is no such request."}
    assert run.of(ToolCompletedDelta)[0].result == {"error": "There is no such request."}


async def test_nothing_found_is_no_evidence_and_anything_else_is(engine: "Doubles") -> None:
    async def nothing(_: Arguments) -> ToolResult:
        return ToolResult.empty(ModelFacingText("No page matches."))

    async def linked(_: Arguments) -> ToolResult:
        return ToolResult.data("page", urls=("https://wiki.example/7",))

    empty, full = one_call(engine, nothing), one_call(engine, linked)
    await empty.outcome()
    await full.outcome()

    assert not empty.assistant.holds_evidence
    assert full.assistant.holds_evidence
    assert full.assistant.retrieved_urls == {"https://wiki.example/7"}


async def test_reads_run_side_by_side_and_are_answered_in_the_order_asked(
    engine: "Doubles",
) -> None:
    second = asyncio.Event()

    async def waits(_: Arguments) -> ToolResult:
        await second.wait()
        return ToolResult.data("slow")

    async def goes(_: Arguments) -> ToolResult:
        second.set()
        return ToolResult.data("quick")

    run = engine.run(
        engine.answer("", engine.call("slow", "", "c1"), engine.call("quick", "", "c2")),
        engine.answer("Done."),
        tools=[engine.tool("slow", waits), engine.tool("quick", goes)],
    )

    assert await run.outcome() == Completed("Done.")
    assert list(run.observations().items()) == [("c1", "slow"), ("c2", "quick")]
    assert [d.tool for d in run.of(ToolCompletedDelta)] == ["quick", "slow"]


async def test_one_broken_call_does_not_take_its_siblings_with_it(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("", engine.call("broken", "", "c1"), engine.call("search", "", "c2")),
        engine.answer("Done."),
        tools=[engine.tool("broken", breaks), engine.tool("search")],
    )

    assert await run.outcome() == Completed("Done.")
    assert "three pages" in run.observations()["c2"]


@pytest.mark.parametrize("arguments", ["{", "[]", "null", '{"q": 1}', '{"x": "a"}', "{}", ""])
async def test_malformed_arguments_are_answered_with_the_fix_and_nothing_runs(
    engine: "Doubles", arguments: str
) -> None:
    ran: list[Arguments] = []

    async def counted(args: Arguments) -> ToolResult:
        ran.append(args)
        return ToolResult.data("done")

    for changes in (False, True):
        run = engine.run(
            engine.answer("", engine.call("search", arguments, "c1")),
            engine.answer("Done."),
            tools=[
                engine.tool(
                    "search", counted, changes=changes, parameters=(engine.text_parameter("q"),)
                )
            ],
        )

        assert await run.outcome() == Completed("Done.")
        assert ran == []
        assert run.observations()["c1"]
        [step] = run.of(ToolCallStep)
        assert (step.error, step.arguments) == ("InvalidArgument", arguments)
        assert run.of(ToolCompletedDelta) == []


async def test_a_vocabulary_that_breaks_is_an_answer_too(engine: "Doubles") -> None:
    class Broken:
        def names(self) -> tuple[str, ...]:
            return ("leave",)

        def resolve(self, spoken: str) -> Result[str]:
            if spoken == "leave":
                return Ok("policy-7")
            raise LookupError(spoken)

    topic = Parameter(
        "topic", ParameterType.STRING, ModelFacingText("A topic."), vocabulary=Broken()
    )
    run = engine.run(
        engine.answer(
            "",
            engine.call("search", '{"topic": "leave"}', "c1"),
            engine.call("search", '{"topic": "pay"}', "c2"),
        ),
        engine.answer("Done."),
        tools=[engine.tool("search", parameters=(topic,))],
    )

    assert await run.outcome() == Completed("Done.")
    assert "did not work" in run.observations()["c2"]
    refused, ran = run.of(ToolCallStep)
    assert (refused.call_id, refused.error) == ("c2", "Upstream")
    assert "LookupError" in refused.detail
    assert ran.arguments == '{"topic":"policy-7"}'


async def test_an_error_that_would_pass_is_not_retried_by_the_engine(engine: "Doubles") -> None:
    asked: list[Arguments] = []

    async def down(args: Arguments) -> UpstreamError:
        asked.append(args)
        return UpstreamError(HumanText("The ticket system is down."))

    run = one_call(engine, down)
    await run.outcome()

    assert len(asked) == 1
