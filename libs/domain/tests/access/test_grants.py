"""Grants are declared before they are needed, and bring what they imply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.grants import Grant, GrantCatalogue, Sensitivity
from cogni_kernel import DefinitionError, GrantKey, HumanText

KEYS = tuple(GrantKey(name) for name in "abcdefg")
graphs = st.dictionaries(
    st.sampled_from(KEYS), st.frozensets(st.sampled_from((*KEYS, GrantKey("typo")))), min_size=1
)


def a_grant(key: str, *implies: str, **more: Sensitivity) -> Grant:
    return Grant(
        GrantKey(key),
        HumanText(f"Name of {key}"),
        HumanText(f"What {key} allows."),
        frozenset(map(GrantKey, implies)),
        **more,
    )


@given(graphs, st.frozensets(st.sampled_from((*KEYS, GrantKey("typo")))))
def test_what_is_implied_is_everything_that_can_be_reached(
    graph: dict[GrantKey, frozenset[GrantKey]], given_keys: frozenset[GrantKey]
) -> None:
    catalogue = GrantCatalogue(a_grant(k.value, *(i.value for i in graph[k])) for k in graph)
    reached = given_keys & graph.keys()
    while (more := reached.union(*(graph[k] & graph.keys() for k in reached))) != reached:
        reached = more

    assert catalogue.resolve_implied(given_keys) == reached


def test_a_circle_of_implications_ends() -> None:
    catalogue = GrantCatalogue([a_grant("a", "b"), a_grant("b", "c"), a_grant("c", "a")])

    assert catalogue.resolve_implied([GrantKey("b")]) == {GrantKey(k) for k in "abc"}


def test_a_grant_that_was_never_declared_gives_nothing() -> None:
    catalogue = GrantCatalogue([a_grant("a", "nowhere")])

    assert catalogue.resolve_implied([GrantKey("a"), GrantKey("typo")]) == {GrantKey("a")}
    assert not catalogue.known(GrantKey("nowhere"))


def test_a_typo_fails_where_it_is_made() -> None:
    catalogue = GrantCatalogue([a_grant("leave.read")])

    catalogue.require(GrantKey("leave.read"), "the tool look_up")
    with pytest.raises(DefinitionError, match=r"look_up needs the grant leave\.raed.*leave\.read"):
        catalogue.require(GrantKey("leave.raed"), "the tool look_up")
    with pytest.raises(DefinitionError, match="Declared: none"):
        GrantCatalogue().require(GrantKey("a"), "the tool look_up")


def test_declaring_the_same_grant_again_changes_nothing_and_another_is_refused() -> None:
    catalogue = GrantCatalogue([a_grant("b"), a_grant("a"), a_grant("b")])

    assert [str(grant.key) for grant in catalogue.all()] == ["a", "b"]
    with pytest.raises(DefinitionError, match="declared twice"):
        catalogue.declare(a_grant("a", sensitivity=Sensitivity.RESTRICTED))


@pytest.mark.parametrize(("name", "description"), [("", "x"), ("x", " \u200b")])
def test_an_administrator_reads_what_a_grant_gives(name: str, description: str) -> None:
    with pytest.raises(DefinitionError, match="name and a description"):
        Grant(GrantKey("a"), HumanText(name), HumanText(description))
