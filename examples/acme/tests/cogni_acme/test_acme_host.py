"""Headcount figures and leave accounts."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_acme.host import LeaveAccounts, load_days_left, load_headcount, working_days
from cogni_kernel import (
    ConflictError,
    Err,
    Error,
    InvalidArgumentError,
    NotPermittedError,
    Ok,
    PrincipalId,
    TenantId,
)

ANN = (TenantId("acme"), PrincipalId("ann"))
BOB = (TenantId("acme"), PrincipalId("bob"))
MONDAY, FRIDAY = date(2026, 12, 7), date(2026, 12, 11)


def _accounts(days: int = 8) -> LeaveAccounts:
    return LeaveAccounts({ANN: days, BOB: days}, today=lambda: date(2026, 12, 1))


def test_the_departments_add_up_to_the_company() -> None:
    headcount = load_headcount()[TenantId("acme")]

    assert sum(row[-1] for row in headcount.departments.values()) == 412


def test_a_department_without_a_figure_for_each_quarter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "host.yaml"
    path.write_text("headcount: {acme: {quarters: [Q1, Q2], departments: {Sales: [4]}}}\n")

    with pytest.raises(ValueError, match="headcount, acme, Sales: 1 figures for 2 quarters"):
        load_headcount(path)


def test_a_negative_balance_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "host.yaml"
    path.write_text("leave_days_left: {acme: {ann: -1}}\n")

    with pytest.raises(ValueError, match="leave of ann: expected a whole number from 0"):
        load_days_left(path)


def test_who_works_through_an_agency_has_no_account() -> None:
    days_left = load_days_left()

    assert (TenantId("acme"), PrincipalId("engineer")) in days_left
    assert (TenantId("acme"), PrincipalId("contractor")) not in days_left


def test_a_plan_says_days_and_balance_and_changes_nothing() -> None:
    accounts = _accounts()

    planned = accounts.plan(ANN, MONDAY, FRIDAY)

    assert isinstance(planned, Ok)
    assert (planned.value.days, planned.value.left_before, planned.value.left_after) == (5, 8, 3)
    assert accounts.days_left(ANN) == 8
    assert accounts.booked(ANN) == ()


def test_the_same_key_books_once() -> None:
    accounts = _accounts()

    first = accounts.book(ANN, MONDAY, FRIDAY, "k1")
    again = accounts.book(ANN, MONDAY, FRIDAY, "k1")

    assert first == again
    assert accounts.days_left(ANN) == 3
    assert len(accounts.booked(ANN)) == 1


def test_a_key_cannot_be_used_for_other_days_or_another_person() -> None:
    accounts = _accounts()
    accounts.book(ANN, MONDAY, FRIDAY, "k1")

    for result in (
        accounts.book(ANN, MONDAY, MONDAY, "k1"),
        accounts.book(BOB, MONDAY, FRIDAY, "k1"),
    ):
        assert isinstance(result, Err)
        assert isinstance(result.error, ConflictError)
    assert accounts.days_left(BOB) == 8


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        (FRIDAY, MONDAY, InvalidArgumentError),
        (date(2026, 11, 30), MONDAY, InvalidArgumentError),
        (date(2026, 12, 12), date(2026, 12, 13), InvalidArgumentError),
        (MONDAY, date(2026, 12, 21), ConflictError),
    ],
    ids=["backwards", "in the past", "a weekend", "more than is left"],
)
def test_impossible_days_are_refused(first: date, last: date, kind: type[Error]) -> None:
    result = _accounts().plan(ANN, first, last)

    assert isinstance(result, Err)
    assert isinstance(result.error, kind)


def test_days_that_overlap_a_booking_are_refused() -> None:
    accounts = _accounts()
    accounts.book(ANN, MONDAY, MONDAY, "k1")

    result = accounts.book(ANN, date(2026, 12, 4), MONDAY, "k2")

    assert isinstance(result, Err)
    assert isinstance(result.error, ConflictError)


def test_who_has_no_account_is_refused() -> None:
    result = LeaveAccounts({}, today=lambda: MONDAY).plan(ANN, MONDAY, FRIDAY)

    assert isinstance(result, Err)
    assert isinstance(result.error, NotPermittedError)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 60), st.integers(0, 60))
def test_working_days_of_two_parts_are_those_of_the_whole(start: date, one: int, two: int) -> None:
    middle = date.fromordinal(start.toordinal() + one)
    end = date.fromordinal(middle.toordinal() + 1 + two)

    parts = working_days(start, middle) + working_days(
        date.fromordinal(middle.toordinal() + 1), end
    )

    assert parts == working_days(start, end)
