import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    Arguments,
    Base,
    Effect,
    OfferedTool,
    Registry,
    RegistrySnapshot,
    ToolResult,
    describe,
)
from cogni_kernel import DefinitionError, Error, GrantKey

NAMES = ["book", "search", "look_up", "headcount"]


def tool(name: str) -> type[Base]:
    class Made(Base):
        definition = describe(name, does="Does", use_when="asked", do_not_use="otherwise")
        grant = GrantKey(f"{name}.use")
        effect = Effect.MUTATE if name == "book" else Effect.READ

        async def call(self, args: Arguments) -> ToolResult | Error:
            return ToolResult.data("done")

    return Made


TOOLS = {name: tool(name) for name in NAMES}
offers = st.lists(st.sampled_from(NAMES), unique=True)


@given(offers, st.sampled_from(NAMES))
def test_a_tool_is_fetched_exactly_when_it_was_offered(names: list[str], asked: str) -> None:
    registry = Registry(tuple(TOOLS[n] for n in names))

    assert registry.fetch(asked) is (TOOLS[asked] if asked in names else None)
    assert [str(d.name) for d in registry.definitions()] == names


@given(offers, st.sampled_from(NAMES))
def test_a_withdrawn_tool_is_gone_and_the_rest_stays(names: list[str], gone: str) -> None:
    before = Registry(tuple(TOOLS[n] for n in names))
    after = before.without(gone)

    assert after.fetch(gone) is None
    assert after.snapshot.names() == set(names) - {gone}
    assert before.snapshot.names() == set(names)
    assert after.without(gone) == after


@given(st.permutations(NAMES))
def test_a_snapshot_does_not_depend_on_the_order_of_composition(names: list[str]) -> None:
    registry = Registry(tuple(TOOLS[n] for n in names))

    assert [t.name for t in registry.snapshot.tools] == sorted(NAMES)


def test_a_snapshot_keeps_what_was_offered() -> None:
    assert Registry((TOOLS["search"], TOOLS["book"])).snapshot == RegistrySnapshot(
        (
            OfferedTool("book", "1.0.0", "mutate", "book.use"),
            OfferedTool("search", "1.0.0", "read", "search.use"),
        )
    )


def test_the_empty_registry_offers_nothing() -> None:
    assert Registry.empty().fetch("search") is None
    assert Registry.empty().definitions() == ()
    assert Registry.empty().snapshot == RegistrySnapshot()


@pytest.mark.parametrize("name", ["Search", " search", "", "search\u200b", "look-up"])
def test_a_name_that_is_nearly_right_fetches_nothing(name: str) -> None:
    assert Registry((TOOLS["search"], TOOLS["look_up"])).fetch(name) is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(DefinitionError, match="share a name"):
        Registry((TOOLS["search"], tool("search")))
