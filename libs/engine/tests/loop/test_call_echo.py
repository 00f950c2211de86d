import math
from typing import TYPE_CHECKING, Any

from cogni_engine import (
    Arguments,
    Completed,
    Echo,
    EchoForm,
    Phase,
    PhaseDelta,
    ToolCompletedDelta,
    ToolResult,
    to_payload,
)
from cogni_kernel import (
    ModelFacingText,
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


async def test_what_is_done_is_said_before_it_is_done(engine: "Doubles") -> None:
    run = one_call(engine, breaks)
    await run.outcome()

    assert run.deltas[0] == PhaseDelta(Phase.CALLING_TOOL.value, "Looking it up")


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
