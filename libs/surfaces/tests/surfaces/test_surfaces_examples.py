import doctest

from cogni_surfaces import deltas


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(deltas).failed == 0
