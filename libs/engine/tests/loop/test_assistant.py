from typing import TYPE_CHECKING

import pytest

from cogni_engine import (
    Assistant,
    ChannelKey,
    MemoryReferenceStore,
    Message,
    ModelCallStep,
    NullBroadcaster,
    PlanPayload,
    Response,
    ToolResult,
)
from cogni_kernel import Err, HumanText, ModelFacingText, Ok, TaskClass, TokenCount, UpstreamError

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles

DOWN = UpstreamError(HumanText("Down."), detail={"host": "m-3"})


async def test_an_assistant_needs_a_model_and_a_context_alone(engine: "Doubles") -> None:
    assistant = Assistant(model=engine.model(engine.answer("Four.")), context=engine.context())

    given = await assistant.complete()

    assert given == Ok(engine.answer("Four."))
    assert assistant.emitter.text == "Four."
    assert assistant.tools.entries == ()
    assert assistant.thread.messages == ()


async def test_usage_adds_up_over_calls_and_failures(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("a", input_tokens=3, output_tokens=1),
        DOWN,
        engine.answer("b", prompt_tokens=4, completion_tokens=2),
    )

    results = [await run.assistant.complete() for _ in range(3)]

    assert results[1] == Err(DOWN)
    assert (run.assistant.usage.total, run.assistant.usage.absent_calls) == (10, 1)
    assert run.assistant.usage.task_class is TaskClass.CONVERSATIONAL
    steps = run.of(ModelCallStep)
    assert [(s.model_version, s.error, s.detail) for s in steps] == [
        ("scripted-1", None, ""),
        ("scripted-1", "Upstream", "host: m-3"),
        ("scripted-1", None, ""),
    ]


async def test_a_call_is_recorded_under_the_model_that_answered(engine: "Doubles") -> None:
    run = engine.run(Response("a", model_used="stands-in@1"), Response("b"), DOWN)

    for _ in range(3):
        await run.assistant.complete()

    versions = [step.model_version for step in run.of(ModelCallStep)]
    assert versions == ["stands-in@1", "scripted-1", "scripted-1"]


async def test_a_tool_gets_the_context_and_the_channel_and_nothing_else(
    engine: "Doubles",
) -> None:
    channel = NullBroadcaster(
        ChannelKey.derive("c", "u"), MemoryReferenceStore(), engine.run().clock.now
    )
    assistant = Assistant(model=engine.model(), context=engine.context(), channel=channel)
    tool = assistant.build(engine.tool("search"))

    assert str(await tool.emit(PlanPayload("A plan", ()))) == "[[PLAN:p1]]"
    assert tool.channel is channel
    assert str(tool.context.run_ref) == "run-1"
    with pytest.raises(LookupError):
        tool.context.resource(str)


def test_evidence_and_urls_are_collected_over_a_run(engine: "Doubles") -> None:
    assistant = engine.run().assistant

    assistant.note_evidence(ToolResult.empty(ModelFacingText("Nothing.")))
    held = [assistant.holds_evidence]
    assistant.note_evidence(ToolResult.data("one", urls=("https://a.example",)))
    assistant.note_evidence(ToolResult.data("two", urls=("https://b.example",)))
    assistant.note_evidence(ToolResult.empty(ModelFacingText("Nothing.")))

    assert [*held, assistant.holds_evidence] == [False, True]
    assert assistant.retrieved_urls == {"https://a.example", "https://b.example"}


def test_the_thread_grows_and_is_made_to_fit(engine: "Doubles") -> None:
    assistant = engine.run().assistant
    assistant.add(Message.user(HumanText("earlier " * 100)).as_history())
    assistant.fit(TokenCount(20))

    assert [m.text for m in assistant.thread.messages] == ["How many?"]
