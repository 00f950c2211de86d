"""Rules mean what they say in every form that they are kept in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.rule import AccessRule, rule_token
from cogni_domain.access.tokens import EVERYONE, ReaderToken

TOKENS = ("u:1", "u:2", "g:wiki/a", "g:wiki/b", "g:wiki/c", "a:region=eu", "everyone")
clauses = st.frozensets(st.sampled_from(TOKENS).map(ReaderToken), max_size=4)
rules = st.builds(
    AccessRule,
    st.lists(clauses, min_size=1, max_size=4).map(tuple),
    st.just(frozenset()) | clauses,
)
readers = st.frozensets(st.sampled_from(TOKENS).map(ReaderToken)).map(
    lambda held: held | {EVERYONE}
)


@given(rules, readers)
def test_a_rule_admits_who_meets_every_clause_and_is_not_denied(
    rule: AccessRule, tokens: frozenset[ReaderToken]
) -> None:
    met = all(any(t in clause for t in tokens) for clause in rule.clauses)
    denied = any(t in rule.denied for t in tokens)

    assert rule.admits(tokens) == (met and not denied)


@given(rules, readers)
def test_simplifying_changes_no_meaning_and_comes_to_rest(
    rule: AccessRule, tokens: frozenset[ReaderToken]
) -> None:
    simple = rule.simplified()

    assert simple.admits(tokens) == rule.admits(tokens)
    assert simple.simplified() == simple
    assert len(simple.clauses) <= max(1, len(rule.clauses))


@given(rules, st.data())
def test_the_order_and_repetition_of_clauses_change_no_name(
    rule: AccessRule, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(rule.clauses))
    again = AccessRule((*shuffled, *rule.clauses), rule.denied)

    assert again.digest == rule.digest
    assert again.simplified() == rule.simplified()
    assert rule_token(again) == rule_token(rule)


@given(rules, rules, readers)
def test_rules_of_one_name_mean_the_same(
    one: AccessRule, other: AccessRule, tokens: frozenset[ReaderToken]
) -> None:
    if one.digest == other.digest:
        assert one.admits(tokens) == other.admits(tokens)


@given(rules)
def test_a_rule_survives_its_text(rule: AccessRule) -> None:
    text = rule.to_json()
    back = AccessRule.from_json(text)

    assert (back.digest, back.to_json()) == (rule.digest, text)
    assert back == rule.simplified()
    assert set(json.loads(text)) == {"all_of", "none_of"}


@given(rules, readers)
def test_what_is_stored_with_a_passage_means_the_rule(
    rule: AccessRule, tokens: frozenset[ReaderToken]
) -> None:
    held = tokens | ({rule_token(rule)} if rule.is_compound and rule.admits(tokens) else set())

    assert bool(rule.readers & held) == rule.admits(tokens)


@given(rules, rules, readers)
def test_a_child_under_its_parent_is_admitted_by_both(
    parent: AccessRule, child: AccessRule, tokens: frozenset[ReaderToken]
) -> None:
    both = child.both(parent)

    assert both.admits(tokens) == (child.admits(tokens) and parent.admits(tokens))


@given(rules, clauses, readers)
def test_a_layer_narrows_and_a_denial_narrows(
    rule: AccessRule, layer: frozenset[ReaderToken], tokens: frozenset[ReaderToken]
) -> None:
    assert rule.restricted_to(*layer).admits(tokens) == (
        rule.admits(tokens) and bool(layer & tokens)
    )
    assert rule.except_for(*layer).admits(tokens) == (rule.admits(tokens) and not layer & tokens)


def test_no_restriction_and_restricted_to_nobody_are_different() -> None:
    everybody = frozenset({EVERYONE})
    nobody = AccessRule.everyone().restricted_to()

    assert AccessRule.everyone().admits(everybody)
    assert not nobody.admits(everybody)
    assert nobody.readers == frozenset()
    assert AccessRule.any_of().readers == frozenset()


def test_one_clause_is_its_own_tokens_and_more_is_one_token() -> None:
    simple = AccessRule.any_of("g:wiki/a", "u:1").restricted_to("everyone")
    compound = AccessRule.any_of("g:wiki/a").restricted_to("g:wiki/b")
    denying = AccessRule.any_of("g:wiki/a").except_for("u:1")

    assert not simple.is_compound
    assert simple.readers == {"g:wiki/a", "u:1"}
    for rule in (compound, denying):
        assert rule.is_compound
        assert rule.readers == {f"r:{rule.digest}"}


def test_a_rule_says_something() -> None:
    with pytest.raises(ValueError, match="says nothing"):
        AccessRule(())


@pytest.mark.parametrize("token", ["", "hr", "r:abc", "x:1", "Everyone", "g", "everyone "])
def test_what_is_no_reader_token_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="not reader tokens"):
        AccessRule.any_of(token)
    with pytest.raises(ValueError, match="not reader tokens"):
        AccessRule.everyone().except_for(token)
