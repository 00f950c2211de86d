from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_evaluation import Case, CaseSet, FrozenSlice, Stratum
from cogni_kernel import DocumentId, InvalidArgumentError
from cogni_testing import err, ok

TODAY = date(2026, 11, 30)
WANTED: Mapping[DocumentId, int] = {DocumentId("d1"): 1}


def case(number: int, stratum: Stratum = Stratum.COMMON) -> Case:
    refusal = stratum is Stratum.UNANSWERABLE
    wanted = {} if refusal else WANTED
    return Case(f"c{number}", f"Question {number}?", "engineer", stratum, wanted, refusal)


def balanced(size: int = 20) -> CaseSet:
    kinds = [
        *[Stratum.COMMON] * 7,
        *[Stratum.LONG_TAIL] * 4,
        *[Stratum.MULTI_STEP] * 3,
        *[Stratum.UNANSWERABLE] * 3,
        *[Stratum.ADVERSARIAL] * 2,
        Stratum.AMBIGUOUS,
    ]
    return CaseSet("set", tuple(case(n, kinds[n % 20]) for n in range(size)))


def test_a_balanced_set_is_valid_without_a_warning() -> None:
    assert ok(balanced().validate(TODAY)) == ()


def test_a_set_with_a_tenth_of_unanswerable_questions_has_too_few() -> None:
    cases = (*(case(n) for n in range(9)), case(9, Stratum.UNANSWERABLE))

    error = err(CaseSet("set", cases).validate(TODAY), InvalidArgumentError)

    assert "10%" in str(error.message)


def test_a_case_that_nobody_asks_is_refused_by_name() -> None:
    cases = balanced().cases
    anonymous = (replace(cases[0], scope_fixture=" "), *cases[1:])

    assert "c0" in str(err(CaseSet("set", anonymous).validate(TODAY), InvalidArgumentError).message)


def test_a_case_that_wants_nothing_and_refuses_nothing_is_refused_by_name() -> None:
    cases = balanced().cases
    empty = (replace(cases[0], must_retrieve={}), *cases[1:])

    assert "c0" in str(err(CaseSet("set", empty).validate(TODAY), InvalidArgumentError).message)


def test_an_old_set_is_warned_of() -> None:
    cases = tuple(replace(c, added=date(2026, 1, 1)) for c in balanced().cases)

    [warning] = ok(CaseSet("set", cases).validate(TODAY))

    assert "older" in warning


def test_a_set_that_leans_to_one_kind_is_warned_of() -> None:
    cases = (*(case(n) for n in range(8)), *(case(n, Stratum.UNANSWERABLE) for n in (8, 9)))

    warnings = ok(CaseSet("set", cases).validate(TODAY))

    assert any(w.startswith("common makes up 80%") for w in warnings)


@pytest.mark.parametrize(
    "change",
    [
        {"id": " "},
        {"question": "\n"},
        {"must_retrieve": {DocumentId("d"): 0}},
        {"expect_refusal": True},
    ],
)
def test_a_case_that_contradicts_itself_is_no_case(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"case|grade|refused"):
        replace(case(1), **change)  # type: ignore[arg-type]


def test_two_cases_of_one_id_are_no_set() -> None:
    with pytest.raises(ValueError, match="c1"):
        CaseSet("set", (case(1), case(1)))


def test_no_case_is_no_set() -> None:
    with pytest.raises(ValueError, match="no case"):
        CaseSet("set", ())


@given(st.integers(20, 120), st.data())
def test_a_slice_has_every_kind_in_its_share(size: int, data: st.DataObject) -> None:
    cases = balanced(size)
    n = data.draw(st.integers(1, size))

    frozen = cases.freeze_slice(n)

    assert len(frozen.cases) == n
    for stratum in Stratum:
        meant = cases.share(stratum) * n
        assert abs(sum(c.stratum is stratum for c in frozen.cases) - meant) <= 1.0


def test_a_slice_does_not_depend_on_the_order_of_the_set() -> None:
    cases = balanced(60)
    turned = CaseSet("set", cases.cases[::-1])

    assert cases.freeze_slice(20).digest == turned.freeze_slice(20).digest


@pytest.mark.parametrize("n", [0, 21])
def test_a_slice_larger_than_the_set_is_none(n: int) -> None:
    with pytest.raises(ValueError, match="1 to 20"):
        balanced().freeze_slice(n)


def test_a_slice_that_was_changed_is_refused() -> None:
    frozen = balanced().freeze_slice(10)
    changed = (replace(frozen.cases[0], question="Another question?"), *frozen.cases[1:])

    with pytest.raises(ValueError, match="changed after it was frozen"):
        FrozenSlice(frozen.name, changed, frozen.digest)
