from abc import abstractmethod
from typing import TypeVar

import pytest

from cogni_engine import (
    Arguments,
    Base,
    CostBand,
    Definition,
    Effect,
    Mutation,
    Parameter,
    ParameterType,
    PlanPayload,
    PlanStep,
    Renderable,
    ToolResult,
    describe,
)
from cogni_kernel import (
    ConflictError,
    DefinitionError,
    Error,
    GrantKey,
    HumanText,
    ModelFacingText,
    NotFoundError,
    RunRef,
    SemVer,
    ToolName,
)

R = TypeVar("R")
DAY = Parameter("day", ParameterType.STRING, ModelFacingText("Which day."))
BOOK = describe(
    "book",
    does="Books a desk",
    use_when="asked",
    do_not_use="otherwise",
    parameters=(DAY,),
    version="2.1.0",
)


class Context:
    run_ref = RunRef("run-1")

    def resource(self, kind: type[R]) -> R:
        raise LookupError(kind)


class BookDesk(Base):
    definition = BOOK
    grant = GrantKey("desks.book")
    effect = Effect.MUTATE

    async def call(self, args: Arguments) -> ToolResult | Error:
        return ToolResult.data(f"booked {args['day']}")


class BookFullDay(BookDesk):
    async def preview(self, args: Arguments) -> Renderable | Error:
        return self.fail(ConflictError, f"{args['day']} is full.", "Offer another day.")


async def test_a_tool_does_what_it_says() -> None:
    tool = BookDesk(Context())

    assert await tool.call({"day": "Monday"}) == ToolResult.data("booked Monday")
    assert tool.cost_band is CostBand.CHEAP
    assert tool.requires == ()


async def test_a_change_is_proposed_with_what_it_would_be_called_with() -> None:
    assert await BookDesk(Context()).propose({"day": "Monday"}, "c1") == Mutation(
        tool_name="book",
        tool_version="2.1.0",
        arguments='{"day":"Monday"}',
        rendering=PlanPayload("Books a desk.", (PlanStep("day", "Monday"),)),
        call_id="c1",
    )


async def test_a_change_that_makes_no_sense_is_not_proposed() -> None:
    assert await BookFullDay(Context()).propose({"day": "Monday"}, "c1") == ConflictError(
        HumanText("Monday is full."), ModelFacingText("Offer another day.")
    )


def test_a_failure_needs_no_hint() -> None:
    assert Base.fail(NotFoundError, "There is no such desk.") == NotFoundError(
        HumanText("There is no such desk.")
    )


async def test_a_tool_without_a_channel_cannot_push() -> None:
    with pytest.raises(RuntimeError, match="BookDesk was built without a channel"):
        await BookDesk(Context()).emit(PlanPayload("A plan", ()))


@pytest.mark.parametrize("missing", ["definition", "grant", "effect"])
def test_a_tool_that_leaves_out_a_declaration_is_refused(missing: str) -> None:
    async def call(self: Base, args: Arguments) -> ToolResult:
        return ToolResult.data("done")

    declared = {"definition": BOOK, "grant": GrantKey("a"), "effect": Effect.READ, "call": call}
    del declared[missing]

    with pytest.raises(DefinitionError, match=f"Careless: declare {missing}"):
        type("Careless", (Base,), declared)


def test_a_grant_that_is_a_bare_string_is_refused() -> None:
    with pytest.raises(DefinitionError, match="declare grant, a GrantKey"):

        class Careless(BookDesk):
            grant = "desks.book"  # type: ignore[assignment]


def test_a_call_that_cannot_be_awaited_is_refused() -> None:
    with pytest.raises(DefinitionError, match="write `async def call"):

        class Careless(BookDesk):
            def call(self, args: Arguments) -> ToolResult:  # type: ignore[override]
                return ToolResult.data("done")


def test_a_definition_without_the_negative_clause_is_refused_here_too() -> None:
    bare = Definition(
        ToolName("book"),
        SemVer(1, 0, 0),
        ModelFacingText("Books."),
        ModelFacingText("asked"),
        ModelFacingText(" "),
    )
    with pytest.raises(DefinitionError, match="say when NOT to use it"):

        class Careless(BookDesk):
            definition = bare


def test_an_abstract_tool_may_leave_declarations_to_its_heirs() -> None:
    class TicketTool(Base):
        grant = GrantKey("tickets.read")
        effect = Effect.READ

        @abstractmethod
        async def call(self, args: Arguments) -> ToolResult | Error: ...

    with pytest.raises(TypeError, match="abstract"):
        TicketTool(Context())  # type: ignore[abstract]
