"""The demo company's own systems, in memory: headcount figures and leave accounts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from cogni_acme.shape import listing, mapping, read_yaml, texts
from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    NotPermittedError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
)

HOST = Path(__file__).parent / "host.yaml"

Account = tuple[TenantId, PrincipalId]


@dataclass(frozen=True, slots=True)
class Headcount:
    """How many people work where; each department has one figure a quarter."""

    quarters: tuple[str, ...]
    departments: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class TimeOff:
    """A span of annual leave, first and last day included.

    Attributes:
        days: Working days in it, Monday to Friday.
        left_before: Days on the account before it is booked.
    """

    first: date
    last: date
    days: int
    left_before: int

    @property
    def left_after(self) -> int:
        """Days on the account once it is booked."""
        return self.left_before - self.days


class CompanyFigures:
    """What each company publishes of itself, for its own people."""

    def __init__(self, headcount: Mapping[TenantId, Headcount]) -> None:
        self._headcount = dict(headcount)

    def headcount(self, tenant: TenantId) -> Headcount | None:
        """Return the figures of one company, None where it publishes none."""
        return self._headcount.get(tenant)


class LeaveAccounts:
    """Who has how many days left, and what is booked.

    A booking happens once per key: the same key with the same days gives the same booking again.
    """

    def __init__(self, days_left: Mapping[Account, int], today: Callable[[], date]) -> None:
        self._days_left = dict(days_left)
        self._today = today
        self._booked: dict[str, tuple[Account, TimeOff]] = {}

    def days_left(self, account: Account) -> int | None:
        """Return the working days left, None for who has no account here."""
        return self._days_left.get(account)

    def booked(self, account: Account) -> tuple[TimeOff, ...]:
        """Return the bookings of an account, earliest first."""
        own = [span for owner, span in self._booked.values() if owner == account]
        return tuple(sorted(own, key=lambda span: span.first))

    def plan(self, account: Account, first: date, last: date) -> Result[TimeOff]:
        """Return what a booking would do; changes nothing.

        Errors:
            NotPermittedError: There is no account: leave is not booked here.
            InvalidArgumentError: The days are in the past, in the wrong order, or no working days.
            ConflictError: They overlap another booking, or more than is left is asked for.
        """
        left = self._days_left.get(account)
        if left is None:
            return Err(NotPermittedError(_NO_ACCOUNT))
        if last < first or first < self._today():
            return Err(InvalidArgumentError(_WRONG_ORDER, _WRONG_ORDER_HINT))
        days = working_days(first, last)
        if days == 0:
            return Err(InvalidArgumentError(_WEEKEND, _WEEKEND_HINT))
        if any(span.first <= last and first <= span.last for span in self.booked(account)):
            return Err(
                ConflictError(HumanText("You have already booked leave on some of these days."))
            )
        if days > left:
            return Err(ConflictError(HumanText(f"You asked for {days} days and have {left} left.")))
        return Ok(TimeOff(first, last, days, left))

    def book(self, account: Account, first: date, last: date, key: str) -> Result[TimeOff]:
        """Book leave once for `key`; errors as `plan`, and a ConflictError for a key used otherwise."""
        if key in self._booked:
            owner, span = self._booked[key]
            if (owner, span.first, span.last) != (account, first, last):
                return Err(
                    ConflictError(HumanText("This request was already used for other days."))
                )
            return Ok(span)
        planned = self.plan(account, first, last)
        if isinstance(planned, Ok):
            self._booked[key] = (account, planned.value)
            self._days_left[account] = planned.value.left_after
        return planned


def working_days(first: date, last: date) -> int:
    """Count Monday to Friday from `first` to `last`, both included.

    >>> working_days(date(2026, 12, 4), date(2026, 12, 7))
    2
    """
    span = range((last - first).days + 1)
    return sum((first + timedelta(days=n)).weekday() < 5 for n in span)


def load_headcount(path: Path = HOST) -> dict[TenantId, Headcount]:
    """Read the figures.

    Raises:
        ValueError: A department has not one figure a quarter.
    """
    tenants = mapping(_host(path).get("headcount"), "headcount")
    return {TenantId(key): _headcount(value, f"headcount, {key}") for key, value in tenants.items()}


def load_days_left(path: Path = HOST) -> dict[Account, int]:
    """Read the leave accounts; raises ValueError for a balance that is no whole number from 0."""
    tenants = mapping(_host(path).get("leave_days_left"), "leave_days_left")
    return {
        (TenantId(tenant), PrincipalId(person)): _count(days, f"leave of {person}")
        for tenant, people in tenants.items()
        for person, days in mapping(people, f"leave_days_left, {tenant}").items()
    }


def _headcount(value: object, where: str) -> Headcount:
    found = mapping(value, where, frozenset({"quarters", "departments"}))
    quarters = texts(found.get("quarters"), f"{where}, quarters")
    departments = {
        name: tuple(_count(n, f"{where}, {name}") for n in listing(row, f"{where}, {name}"))
        for name, row in mapping(found.get("departments"), f"{where}, departments").items()
    }
    for name, row in departments.items():
        if len(row) != len(quarters):
            raise ValueError(f"{where}, {name}: {len(row)} figures for {len(quarters)} quarters")
    return Headcount(quarters, departments)


def _host(path: Path) -> dict[str, object]:
    return mapping(read_yaml(path), "host", frozenset({"headcount", "leave_days_left"}))


def _count(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{where}: expected a whole number from 0")
    return value


_NO_ACCOUNT = HumanText("You have no leave account here. Ask your agency, or People.")
_WRONG_ORDER = HumanText("The days must lie ahead, the first before the last.")
_WRONG_ORDER_HINT = ModelFacingText("Ask the person for the first and the last day, with the year.")
_WEEKEND = HumanText("There is no working day among these days.")
_WEEKEND_HINT = ModelFacingText("Ask the person which working days are meant.")
