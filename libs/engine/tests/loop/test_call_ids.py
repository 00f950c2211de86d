from typing import TYPE_CHECKING

import pytest

from cogni_engine import (
    Completed,
    TokenDelta,
    ToolCall,
    ToolCallStep,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles


async def test_what_utf8_cannot_hold_never_reaches_the_thread_or_the_outcome(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer("half \ud83d", ToolCall("c\ud800", "search", '{"q": "\udfff"}')),
        engine.answer("end \ud83d"),
        tools=[engine.tool("search", parameters=(engine.text_parameter("q"),))],
    )

    outcome = await run.outcome()

    assert outcome == Completed("end \ufffd")
    for message in run.assistant.thread.messages:
        assert str(message.wire).encode()
    assert all(t.text.encode() for t in run.of(TokenDelta))
    [step] = run.of(ToolCallStep)
    assert step.error == "InvalidArgument"
    assert (step.call_id + step.arguments).encode()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["", ""], ["", ""]),
        (["a", "a"], ["a", "b"]),
        (["call_1", ""], ["call_2", "call_2"]),
        (["", "call_1", "call_1"], ["call_1"]),
    ],
)
async def test_calls_without_ids_or_with_used_ones_get_ids_of_their_own(
    engine: "Doubles", first: list[str], second: list[str]
) -> None:
    def calls(ids: list[str]) -> list[ToolCall]:
        return [ToolCall(name, "search", "{}") for name in ids]

    run = engine.run(
        engine.answer("", *calls(first)),
        engine.answer("", *calls(second)),
        engine.answer("Done."),
        tools=[engine.tool("search")],
    )

    assert await run.outcome() == Completed("Done.")
    answered = list(run.observations())
    assert len(set(answered)) == len(first) + len(second)
    assert "" not in answered
    assert first[0] == "" or answered[0] == first[0]
