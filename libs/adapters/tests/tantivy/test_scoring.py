from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.tantivy.scoring import (
    LEVELS,
    LONGEST_QUESTION,
    asked,
    at_every_level,
    rarity,
    written,
)

terms = st.text(min_size=1, max_size=8)


@given(st.lists(terms, max_size=30))
def test_each_term_is_written_once_as_one_of_what_is_looked_for(passage: list[str]) -> None:
    words = written(passage).split(" ") if passage else []

    assert len(words) == len(set(passage))
    for term in set(passage):
        assert set(words) & set(at_every_level(term))


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
def test_a_term_that_comes_more_often_never_stands_lower(passage: list[str]) -> None:
    level = {word[1:]: int(word[0]) for word in written(passage).split()}
    counts = Counter(passage)

    assert all(1 <= each <= LEVELS for each in level.values())
    assert all(
        level[one] <= level[other]
        for one in counts
        for other in counts
        if counts[one] <= counts[other]
    )


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
