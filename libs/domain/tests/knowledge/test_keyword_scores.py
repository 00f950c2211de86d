from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.keyword_scores import (
    LEVELS,
    LONGEST_QUESTION,
    asked,
    heavy,
    rarity,
    tie,
    weights,
)
from cogni_kernel import ChunkId


@given(st.integers(1, 10_000_000), st.data())
def test_a_rarer_term_never_weighs_less(visible: int, data: st.DataObject) -> None:
    fewer, more = sorted(data.draw(st.tuples(*[st.integers(1, visible)] * 2)))

    assert rarity(visible, fewer) >= rarity(visible, more) >= 1


def test_the_best_possible_score_is_exact_in_the_floats_of_the_engine() -> None:
    assert LONGEST_QUESTION * rarity(10**9, 1) * LEVELS < 2**24


@pytest.mark.parametrize(("question", "weights"), [(["a", "b", "a"], {"a": 2, "b": 1}), ([""], {})])
def test_a_term_asked_for_twice_weighs_twice(question: list[str], weights: dict[str, int]) -> None:
    assert asked(question) == weights


def test_the_end_of_an_endless_question_is_left_out() -> None:
    assert len(asked([f"t{number}" for number in range(10_000)])) == LONGEST_QUESTION


def test_a_term_that_nothing_visible_holds_weighs_nothing() -> None:
    assert weights(Counter("ab"), visible=10, holding={"a": 2}) == {"a": rarity(10, 2)}


def test_what_weighs_far_less_than_the_heaviest_does_not_decide() -> None:
    assert heavy({"rare": 1_600, "usual": 100, "common": 99}) == {"rare": 1_600, "usual": 100}
    assert heavy({}) == {}


def test_equal_passages_have_one_order_of_their_own() -> None:
    assert len({tie(ChunkId(f"d:{number}")) for number in range(1_000)}) == 1_000
