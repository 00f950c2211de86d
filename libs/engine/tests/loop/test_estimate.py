from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    Arguments,
    Completed,
    Halted,
    HaltReason,
    Message,
    RunBounds,
    Thread,
    ToolResult,
)
from cogni_engine.estimate import LEAST, MOST, Correction
from cogni_kernel import HumanText, TokenCount

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles

tokens = st.integers(0, 10**9).map(TokenCount)


@given(tokens, tokens, tokens)
def test_what_is_within_a_limit_is_not_counted_beyond_it(
    estimated: TokenCount, counted: TokenCount, limit: TokenCount
) -> None:
    correction = Correction().learnt(estimated=estimated, counted=counted)

    assert LEAST <= correction.factor <= MOST
    assert correction.corrected(correction.within(limit)) <= limit + 1


@pytest.mark.parametrize(("estimated", "counted"), [(0, 0), (0, 9), (9, 0)])
def test_a_call_of_which_nothing_was_counted_teaches_nothing(estimated: int, counted: int) -> None:
    known = Correction(2.0)

    assert known.learnt(estimated=TokenCount(estimated), counted=TokenCount(counted)) == known


def with_history() -> Thread:
    past = Message.user(HumanText("x" * 400)).as_history()
    return Thread((past, Message.user(HumanText("How many?"))))


async def test_a_provider_that_counts_more_makes_room_sooner(engine: "Doubles") -> None:
    run = engine.run(
        engine.answer("", engine.call("search"), input_tokens=10_000, output_tokens=1),
        engine.answer("Three."),
        tools=[engine.tool("search")],
        thread=with_history(),
        bounds=RunBounds(max_context=TokenCount(500)),
    )

    assert await run.outcome() == Completed("Three.")
    assert [m.text for m in run.model.read[0]] == ["x" * 400, "How many?"]
    assert "x" * 400 not in [m.text for m in run.model.read[1]]


async def test_a_provider_that_says_nothing_leaves_the_estimate_as_it_is(
    engine: "Doubles",
) -> None:
    run = engine.run(
        engine.answer("", engine.call("search")),
        engine.answer("Three."),
        tools=[engine.tool("search")],
        thread=with_history(),
        bounds=RunBounds(max_context=TokenCount(500)),
    )

    assert await run.outcome() == Completed("Three.")
    assert "x" * 400 in [m.text for m in run.model.read[1]]


async def test_what_is_told_of_the_tools_takes_room_too(engine: "Doubles") -> None:
    bounds = RunBounds(max_context=TokenCount(40))
    bare = engine.run(engine.answer("None."), bounds=bounds)
    tooled = engine.run(tools=[engine.tool("search")], bounds=bounds)

    assert await bare.outcome() == Completed("None.")
    assert await tooled.outcome() == Halted(HaltReason.CONTEXT_CEILING, "")


async def test_a_vocabulary_that_breaks_breaks_no_estimate(engine: "Doubles") -> None:
    class Broken:
        def names(self) -> tuple[str, ...]:
            raise OSError("gone")

        def resolve(self, spoken: str) -> object:
            raise OSError("gone")

    async def found(_: Arguments) -> ToolResult:
        return ToolResult.data("x")

    parameter = engine.text_parameter("team")
    object.__setattr__(parameter, "vocabulary", Broken())
    run = engine.run(
        engine.answer("None."), tools=[engine.tool("search", found, parameters=(parameter,))]
    )

    assert await run.outcome() == Completed("None.")
