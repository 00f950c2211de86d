"""Layers and what they make of a rule."""

from typing import Any

import pytest

from cogni_acme.manifest import Layer, parse_manifest, rule_of
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.tokens import EVERYONE, ReaderToken

KNOWN = frozenset({"g:directory/hr", "g:directory/it", "u:ann"})


def _data(**parts: Any) -> dict[str, Any]:
    return {"layers": {}, "levels": {}, "internal_comments": {}, "history": [], **parts}


def _tokens(*tokens: str) -> frozenset[ReaderToken]:
    return frozenset({EVERYONE, *map(ReaderToken, tokens)})


def test_no_layer_restricts_nothing() -> None:
    assert rule_of([]) == AccessRule.everyone()
    assert rule_of([Layer()]) == AccessRule.everyone()


def test_restricted_to_nobody_is_another_value_than_not_restricted() -> None:
    rule = rule_of([Layer(allow=())])

    assert isinstance(rule, AccessRule)
    assert not rule.admits(_tokens("g:directory/hr", "u:ann"))


def test_every_layer_on_the_way_must_admit() -> None:
    rule = rule_of([Layer(allow=("g:directory/hr",)), Layer(allow=("g:directory/it",))])

    assert isinstance(rule, AccessRule)
    assert rule.admits(_tokens("g:directory/hr", "g:directory/it"))
    assert not rule.admits(_tokens("g:directory/hr"))
    assert not rule.admits(_tokens("g:directory/it"))


def test_a_deny_wins_over_every_allow() -> None:
    rule = rule_of([Layer(deny=("u:ann",)), Layer(allow=("u:ann", "g:directory/hr"))])

    assert isinstance(rule, AccessRule)
    assert not rule.admits(_tokens("u:ann", "g:directory/hr"))
    assert rule.admits(_tokens("g:directory/hr"))


def test_one_unreadable_layer_makes_the_whole_unmappable() -> None:
    layers = [Layer(allow=("u:ann",)), Layer(unreadable="Unknown account.")]

    assert rule_of(layers) == Unmappable("Unknown account.")


def test_layers_are_found_from_the_space_down() -> None:
    layers = {"wiki": {}, "wiki/hr": {"allow": []}, "wiki/hr/pay": {"deny": ["u:ann"]}}
    manifest = parse_manifest(_data(layers=layers), "acme", KNOWN)

    assert manifest.layers_on_the_way("wiki/hr/pay/bands") == (
        Layer(),
        Layer(allow=()),
        Layer(deny=("u:ann",)),
    )
    assert manifest.layers_on_the_way("wiki/hr-news") == (Layer(),)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"allow": ["g:directory/people"]}, "g:directory/people is not a known"),
        ({"deny": ["u:anne"]}, "u:anne is not a known"),
        ({"allow": ["a:region"]}, "a:region is not a known"),
        ({"allow": ["reporter"]}, "reporter is not a known"),
        ({"denies": ["u:ann"]}, "unknown denies; known are allow, deny, unreadable"),
        ({"unreadable": ""}, "expected text"),
        ([], "expected named values"),
    ],
)
def test_a_wrong_layer_is_refused_with_its_place(layer: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"acme, layers, wiki/hr.*{message}"):
        parse_manifest(_data(layers={"wiki/hr": layer}), "acme", KNOWN)


def test_a_level_may_name_the_reporter() -> None:
    levels = {"private": {"allow": ["reporter", "g:directory/it"]}}

    manifest = parse_manifest(_data(levels=levels), "acme", KNOWN)

    assert manifest.levels["private"].with_reporter("ann").allow == ("u:ann", "g:directory/it")


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(ValueError, match="acme, history: an entry is moved and to"):
        parse_manifest(_data(history=[{"moved": "wiki/hr"}]), "acme", KNOWN)
