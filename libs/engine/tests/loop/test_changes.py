from typing import TYPE_CHECKING

from cogni_engine import (
    Arguments,
    Completed,
    Proposed,
    ToolCallStep,
    ToolResult,
)
from cogni_kernel import (
    HumanText,
    InvalidArgumentError,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles


async def breaks(_: Arguments) -> ToolResult:
    raise KeyError("row 41")


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
