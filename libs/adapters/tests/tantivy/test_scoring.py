from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.tantivy.scoring import at_every_level, written
from cogni_domain.knowledge.keyword_scores import LEVELS

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
