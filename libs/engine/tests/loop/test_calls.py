import asyncio
import math
from typing import TYPE_CHECKING, Any

import pytest

from cogni_engine import (
    Arguments,
    Completed,
    Echo,
    EchoForm,
    Halted,
    HaltReason,
    Parameter,
    ParameterType,
    Phase,
    PhaseDelta,
    Proposed,
    RunBounds,
    ToolCallStep,
    ToolCompletedDelta,
    ToolResult,
    to_payload,
)
from cogni_kernel import (
    HumanText,
    InvalidArgumentError,
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


async def endless(_: Arguments) -> ToolResult:
    await asyncio.sleep(60)
    raise AssertionError


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


async def test_what_is_done_is_said_before_it_is_done(engine: "Doubles") -> None:
    run = one_call(engine, breaks)
    await run.outcome()

    assert run.deltas[0] == PhaseDelta(Phase.CALLING_TOOL.value, "Looking it up")


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


async def test_a_preview_that_breaks_or_gives_nothing_proposes_nothing(engine: "Doubles") -> None:
    async def nothing(_: Arguments) -> None:
        return None

    for preview in (breaks, nothing):
        run = engine.run(
            engine.answer("", engine.call("book", "", "c1")),
            engine.answer("Done."),
            tools=[engine.tool("book", changes=True, preview=preview)],
        )

        assert await run.outcome() == Completed("Done.")
        assert "did not work" in run.observations()["c1"]
        assert run.of(ToolCallStep)[0].error == "Upstream"


async def test_a_proposal_that_is_no_mutation_proposes_nothing(engine: "Doubles") -> None:
    async def yes(*_: object) -> str:
        return "yes"

    tool = engine.tool("book", changes=True)
    tool.propose = yes  # type: ignore[method-assign,assignment]
    run = engine.run(
        engine.answer("", engine.call("book", "", "c1")), engine.answer("Done."), tools=[tool]
    )

    assert await run.outcome() == Completed("Done.")
    assert "neither a Mutation nor an Error" in run.of(ToolCallStep)[0].detail


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


async def test_a_structured_echo_keeps_its_fields_and_a_text_echo_its_content(
    engine: "Doubles",
) -> None:
    async def read(_: Arguments) -> ToolResult:
        return ToolResult.data({"path": "a.md", "content": "# A"})

    echoes = []
    for echo in (STRUCTURED, Echo(), Echo(limit=2), Echo(EchoForm.NONE)):
        run = one_call(engine, read, echo)
        await run.outcome()
        echoes.append(run.of(ToolCompletedDelta)[0].result)
        assert run.observations()["c1"] == '{"path": "a.md", "content": "# A"}'

    assert echoes == [{"path": "a.md", "content": "# A"}, "# A", "#…", None]


async def test_a_result_that_json_cannot_hold_is_still_a_delta(engine: "Doubles") -> None:
    async def odd(_: Arguments) -> ToolResult:
        return ToolResult(
            ModelFacingText("whole \ud83d"), {"when": {1, 2}, "share": math.nan, "name": "\ud83d"}
        )

    for echo in (STRUCTURED, Echo()):
        run = one_call(engine, odd, echo)

        assert await run.outcome() == Completed("Done.")
        [delta] = run.of(ToolCompletedDelta)
        assert isinstance(delta.result, str)
        assert delta.result.encode()
        assert to_payload(delta)["result"] == delta.result
        assert run.observations()["c1"] == "whole \ufffd"


async def test_an_observation_of_any_size_is_bounded(engine: "Doubles") -> None:
    async def huge(_: Arguments) -> ToolResult:
        return ToolResult.data("x" * 1_000_000)

    run = one_call(engine, huge)
    await run.outcome()

    assert 100_000 < len(run.observations()["c1"]) < 100_200
    assert "Cut after 100000 of 1000000 characters" in run.observations()["c1"]


async def test_a_read_and_a_change_in_one_answer_may_both_break(engine: "Doubles") -> None:
    async def refused(_: Arguments) -> InvalidArgumentError:
        return InvalidArgumentError(HumanText("Not on a Sunday."))

    run = engine.run(
        engine.answer("", engine.call("book", "", "c1"), engine.call("search", "", "c2")),
        engine.answer("Done."),
        tools=[
            engine.tool("book", changes=True, preview=refused),
            engine.tool("search", breaks),
        ],
    )

    assert await run.outcome() == Completed("Done.")
    assert run.observations()["c1"] == "The call failed: Not on a Sunday."


async def test_what_a_person_reads_before_a_yes_is_made_from_the_arguments_alone(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer("", engine.call("book", '{"day": "Monday"}', "c1")),
        tools=[
            engine.tool(
                "book",
                changes=True,
                parameters=(
                    engine.text_parameter("day"),
                    engine.text_parameter("note", required=False),
                ),
            )
        ],
    )

    outcome = await run.outcome()

    assert isinstance(outcome, Proposed)
    assert outcome.mutation.rendering.to_payload() == {
        "title": "Looks something up.",
        "steps": [{"title": "day", "detail": "Monday"}],
    }


async def test_an_error_that_would_pass_is_not_retried_by_the_engine(engine: "Doubles") -> None:
    asked: list[Arguments] = []

    async def down(args: Arguments) -> UpstreamError:
        asked.append(args)
        return UpstreamError(HumanText("The ticket system is down."))

    run = one_call(engine, down)
    await run.outcome()

    assert len(asked) == 1
