"""What counts as evidence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.relevance import RelevancePolicy

shares = st.floats(0, 1)


@given(shares, shares)
def test_a_score_is_evidence_from_the_floor_on(floor: float, score: float) -> None:
    assert RelevancePolicy(floor).admits(score) == (score >= floor)


@given(shares, shares, shares)
def test_what_a_higher_floor_admits_a_lower_one_admits_too(
    a: float, b: float, score: float
) -> None:
    low, high = sorted((a, b))

    assert not RelevancePolicy(high).admits(score) or RelevancePolicy(low).admits(score)


def test_what_is_no_number_is_no_evidence() -> None:
    assert not RelevancePolicy(0.0).admits(math.nan)


@pytest.mark.parametrize("floor", [-0.1, 1.1, math.nan])
def test_a_floor_outside_zero_to_one_is_refused(floor: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        RelevancePolicy(floor)
