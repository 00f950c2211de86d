from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_evaluation import Scores, ScoreWithVariance, scored
from cogni_kernel import DocumentId

DOCUMENTS = [DocumentId(f"d{n}") for n in range(30)]
rankings = st.permutations(DOCUMENTS).flatmap(lambda p: st.integers(0, 30).map(lambda n: p[:n]))
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 4), min_size=1, max_size=12)


def by_hand(found: list[DocumentId], wanted: dict[DocumentId, int], k: int) -> float:
    gains = [wanted.get(d, 0) for d in found[:k]]
    best = sorted(wanted.values(), reverse=True)[:k]
    return sum(g / log2(i + 2) for i, g in enumerate(gains)) / sum(
        g / log2(i + 2) for i, g in enumerate(best)
    )


@given(rankings, grades, st.integers(1, 15))
def test_gain_is_what_its_definition_says(
    found: list[DocumentId], wanted: dict[DocumentId, int], k: int
) -> None:
    assert scored(found, wanted, k).ndcg == pytest.approx(by_hand(found, wanted, k))


def test_what_was_not_found_is_not_counted_as_the_last_of_a_short_ranking() -> None:
    first, second = DOCUMENTS[:2]

    found = scored([second], {first: 1}, 10)

    assert found == Scores(recall=0.0, precision=0.0, reciprocal_rank=0.0, ndcg=0.0)


@given(grades, st.integers(12, 20))
def test_the_best_ranking_scores_one(wanted: dict[DocumentId, int], k: int) -> None:
    best = sorted(wanted, key=lambda d: -wanted[d])

    found = scored(best, wanted, k)

    assert (found.recall, found.precision, found.reciprocal_rank) == (1.0, 1.0, 1.0)
    assert found.ndcg == pytest.approx(1.0)


def test_recall_precision_and_place_are_told_apart() -> None:
    a, b, c, d = DOCUMENTS[:4]

    found = scored([a, b, c, b], {b: 1, d: 2}, 3)

    assert (found.recall, found.precision, found.reciprocal_rank) == (0.5, 1 / 3, 0.5)


def test_beyond_k_nothing_is_seen() -> None:
    assert scored(DOCUMENTS, {DOCUMENTS[5]: 1}, 5).recall == 0.0


def test_finding_nothing_is_right_where_nothing_is_wanted_and_wrong_elsewhere() -> None:
    assert scored([], {}, 10).recall == 1.0
    assert scored(DOCUMENTS[:1], {}, 10).ndcg == 0.0
    assert scored([], {DOCUMENTS[0]: 1}, 10).precision == 0.0


def test_one_sample_has_no_variance_and_two_have() -> None:
    assert ScoreWithVariance.of([0.5]) == ScoreWithVariance(0.5, 0.0, 1)
    assert ScoreWithVariance.of([0.4, 0.6]).variance == pytest.approx(0.02)
