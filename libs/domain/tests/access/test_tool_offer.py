"""Which tools are offered follows from grants and the surface, and from nothing that was read."""

import random
from dataclasses import dataclass

import pytest

from cogni_domain.access.grants import Grant, GrantCatalogue
from cogni_domain.access.tool_offer import (
    OfferContext,
    ToolCatalogue,
    ToolContext,
    ToolRegistryComposer,
)
from cogni_engine import Arguments, Base, Effect, ToolResult, describe
from cogni_kernel import DefinitionError, Error, GrantKey, HumanText, RunRef
from cogni_testing import fake_principal, fake_scope

GRANTS = tuple(GrantKey(f"grant.{n}") for n in range(5))


def a_tool(name: str, needs: GrantKey, effect_of: Effect) -> type[Base]:
    class Tool(Base):
        definition = describe(name, does="Does it.", use_when="asked", do_not_use="otherwise")
        grant = needs
        effect = effect_of

        async def call(self, args: Arguments) -> ToolResult | Error:
            return ToolResult.data("done")

    return Tool


TOOLS = tuple(
    a_tool(f"tool_{n:02}", GRANTS[n % 5], Effect.MUTATE if n % 3 == 0 else Effect.READ)
    for n in range(15)
)


def a_catalogue(*tools: type[Base]) -> ToolCatalogue:
    grants = [Grant(key, HumanText(str(key)), HumanText("For this test.")) for key in GRANTS]
    return ToolCatalogue(GrantCatalogue(grants), tools)


@dataclass(frozen=True)
class Case:
    grants: frozenset[GrantKey]
    context: OfferContext


def cases() -> list[Case]:
    dice = random.Random(20)
    names = [str(tool.definition.name) for tool in TOOLS]

    def some(of: list[str], most: int) -> frozenset[str]:
        return frozenset(dice.sample(of, dice.randint(0, most)))

    return [
        Case(
            frozenset(dice.sample(GRANTS, dice.randint(0, 5))),
            OfferContext(
                frozenset(dice.sample(list(Effect), dice.randint(0, 2))),
                some([*names, "gone"], 4),
                some([*names, "TOOL_01"], 4),
            ),
        )
        for _ in range(500)
    ]


def test_five_hundred_offers_equal_a_reference_filter() -> None:
    composer = ToolRegistryComposer(a_catalogue(*TOOLS))
    sizes = set()

    for case in cases():
        principal = fake_principal([str(grant) for grant in case.grants])
        offered = composer.compose(principal, case.context)
        expected = []
        for tool in TOOLS:
            name = str(tool.definition.name)
            if tool.grant not in case.grants or tool.effect not in case.context.effects:
                continue
            if name in case.context.disabled or name in case.context.unhealthy:
                continue
            expected.append(name)
        assert [str(d.name) for d in offered.definitions()] == sorted(expected)
        assert offered.snapshot.names() == set(expected)
        sizes.add(len(expected))

    assert len(sizes) > 5, "the cases tell something apart"


def test_everything_that_is_granted_is_offered_where_nothing_else_is_said() -> None:
    principal = fake_principal([str(grant) for grant in GRANTS])

    offered = ToolRegistryComposer(a_catalogue(*TOOLS)).compose(principal, OfferContext())

    assert len(offered.entries) == len(TOOLS)


def test_a_tool_whose_grant_is_not_declared_fails_where_it_is_declared() -> None:
    with pytest.raises(DefinitionError, match=r"the tool lonely needs the grant grant\.typo"):
        a_catalogue(a_tool("lonely", GrantKey("grant.typo"), Effect.READ))


def test_two_tools_never_share_a_name() -> None:
    catalogue = a_catalogue(TOOLS[0], TOOLS[0])

    assert catalogue.all() == (TOOLS[0],)
    with pytest.raises(DefinitionError, match="two tools are named tool_00"):
        catalogue.declare(a_tool("tool_00", GRANTS[0], Effect.READ))


def test_a_tool_is_found_by_its_exact_name() -> None:
    catalogue = a_catalogue(*TOOLS)

    assert catalogue.find("tool_03") is TOOLS[3]
    for name in ("Tool_03", "tool_03 ", "t\u043eol_03", ""):
        assert catalogue.find(name) is None


def test_a_tool_gets_what_was_bound_for_it_and_nothing_else() -> None:
    principal = fake_principal()
    context = ToolContext(principal, fake_scope(principal), RunRef("r1"), {str: "a host"})

    assert context.resource(str) == "a host"
    with pytest.raises(DefinitionError, match="no int was bound"):
        context.resource(int)
