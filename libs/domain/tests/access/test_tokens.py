"""Tokens of readers never pass for one another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.tokens import (
    EVERYONE,
    attribute_token,
    attribute_tokens,
    group_token,
    user_token,
)
from cogni_kernel import PrincipalId

names = st.text(min_size=1, max_size=8)


@given(names, names, names.filter(lambda n: "=" not in n), names)
def test_tokens_of_different_kinds_are_different(
    user: str, group: str, name: str, value: str
) -> None:
    tokens = [
        user_token(PrincipalId(user)),
        group_token(f"wiki/{group}"),
        attribute_token(name, value),
        EVERYONE,
    ]

    assert len(set(tokens)) == 4


@given(names.filter(lambda n: "=" not in n), names, names.filter(lambda n: "=" not in n), names)
def test_two_attributes_share_a_token_only_if_they_are_one(a: str, b: str, c: str, d: str) -> None:
    assert (attribute_token(a, b) == attribute_token(c, d)) == ((a, b) == (c, d))


@pytest.mark.parametrize("group", ["", "hr", "/hr", "wiki/", "/"])
def test_a_group_without_its_authority_is_refused(group: str) -> None:
    with pytest.raises(ValueError, match="qualified by its authority"):
        group_token(group)


def test_the_same_name_in_two_sources_is_two_groups() -> None:
    assert group_token("wiki/hr") != group_token("tickets/hr")
    assert group_token("wiki/hr/leads") == "g:wiki/hr/leads"


@pytest.mark.parametrize("name", ["", "a=b"])
def test_an_attribute_needs_a_name_without_an_equals_sign(name: str) -> None:
    with pytest.raises(ValueError, match="attribute"):
        attribute_token(name, "x")


def test_all_attributes_give_their_tokens() -> None:
    assert attribute_tokens({"region": "eu", "level": ""}) == {"a:region=eu", "a:level="}
    assert attribute_tokens({}) == frozenset()
