"""Nearest-wins levels as a rule, without a wiki around them."""

from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.wiki.layered import Level, rule_of
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.tokens import EVERYONE, ReaderToken

TOKENS = ("u:ana", "g:w/hr", "g:w/eng", "everyone")

level = st.builds(
    Level, st.frozensets(st.sampled_from(TOKENS)), st.frozensets(st.sampled_from(TOKENS))
)


def admits(levels: list[Level], tokens: frozenset[str]) -> bool:
    for each in levels:
        if tokens & (each.allowed | each.denied):
            return bool(tokens & each.allowed)
    return False


@given(st.lists(level, max_size=5), st.frozensets(st.sampled_from(TOKENS)))
def test_of_all_levels_that_name_a_reader_the_nearest_counts(
    levels: list[Level], some: frozenset[str]
) -> None:
    rule, tokens = rule_of(levels), some | {EVERYONE}

    if isinstance(rule, AccessRule):
        assert rule.admits(frozenset(map(ReaderToken, tokens))) == admits(levels, tokens)


def test_no_level_lets_nobody_read() -> None:
    assert rule_of([]) == AccessRule.any_of()


def test_where_everybody_is_named_no_farther_level_counts() -> None:
    nearest = Level(frozenset({"u:ana"}), frozenset({EVERYONE}))

    found = rule_of([nearest, Level(frozenset({"g:w/hr"}), frozenset())])

    assert found == AccessRule.any_of("u:ana")


def test_one_person_out_of_a_denied_group_has_no_rule() -> None:
    mixed = Level(frozenset({"u:ana"}), frozenset({"g:w/hr"}))

    found = rule_of([mixed, Level(frozenset({EVERYONE}), frozenset())])

    assert isinstance(found, Unmappable)


def test_more_than_can_be_brought_into_a_rule_is_given_up() -> None:
    denied = frozenset(f"g:w/{n}" for n in range(400))

    assert isinstance(rule_of([Level(frozenset({"u:ana"}), denied)] * 2), Unmappable)
