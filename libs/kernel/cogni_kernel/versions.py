"""Semantic versions, what is promised of a name, and how a name goes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import total_ordering
from typing import TypeVar

_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_BOUND = re.compile(r"(>=|<=|>|<|==|\^|~)?\s*(\S+)")
_OPERATORS = frozenset({">=", ">", "<=", "<", "==", "^", "~"})
F = TypeVar("F", bound=Callable[..., object] | type)


@total_ordering
@dataclass(frozen=True, slots=True)
class SemVer:
    """A version of semver.org 2.0.0; build metadata is dropped, it has no rank.

    Raises:
        ValueError: A number is negative, or a pre-release identifier is not one.

    >>> SemVer.parse("1.0.0-rc.1") < SemVer.parse("1.0.0")
    True
    """

    major: int
    minor: int
    patch: int
    pre_release: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if _VERSION.fullmatch(str(self)) is None:
            raise ValueError(f"not a semantic version: {str(self)!r}")

    @staticmethod
    def parse(text: str) -> "SemVer":
        """Read `1.2.3` or `1.2.3-rc.1`.

        Raises:
            ValueError: It is not a semantic version.
        """
        match = _VERSION.fullmatch(text)
        if match is None:
            raise ValueError(f"not a semantic version like 1.2.3: {text!r}")
        major, minor, patch, pre = match.groups()
        return SemVer(int(major), int(minor), int(patch), tuple(pre.split(".")) if pre else ())

    def satisfies(self, wanted: "VersionRange") -> bool:
        """Tell whether this version lies in `wanted`."""
        return all(bound.admits(self) for bound in wanted.bounds)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, SemVer):
            return NotImplemented
        return self._rank() < other._rank()

    def _rank(self) -> tuple[object, ...]:
        parts = tuple((0, len(p), p) if p.isdigit() else (1, 0, p) for p in self.pre_release)
        return (self.major, self.minor, self.patch, not self.pre_release, parts)

    def __str__(self) -> str:
        pre = "-" + ".".join(self.pre_release) if self.pre_release else ""
        return f"{self.major}.{self.minor}.{self.patch}{pre}"


@dataclass(frozen=True, slots=True)
class VersionBound:
    """One comparison with a version; `operator` is one of >= > <= < == ^ ~."""

    operator: str
    version: SemVer

    def __post_init__(self) -> None:
        if self.operator not in _OPERATORS:
            raise ValueError(f"not a comparison: {self.operator!r}")

    def admits(self, found: SemVer) -> bool:  # noqa: PLR0911 - one return an operator
        """Tell whether `found` stands in this relation to the bound's version."""
        low = self.version
        match self.operator:
            case ">=":
                return found >= low
            case ">":
                return found > low
            case "<=":
                return found <= low
            case "<":
                return found < low
            case "^":
                return low <= found < _caret_end(low)
            case "~":
                return low <= found < SemVer(low.major, low.minor + 1, 0, ("0",))
            case _:
                return found == low


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Bounds that must all hold: `>=1.2.0,<2.0.0`, `^1.2.0` (compatible), `~1.2.0` (patches).

    Pre-releases stand where semver.org puts them: 2.0.0-rc.1 is below 2.0.0, yet outside `^1.2.0`.
    """

    bounds: tuple[VersionBound, ...]

    @staticmethod
    def parse(text: str) -> "VersionRange":
        """Read a range; a bare version means exactly that one.

        Raises:
            ValueError: A bound is not an operator and a semantic version.
        """
        bounds = []
        for part in text.split(","):
            match = _BOUND.fullmatch(part.strip())
            if match is None:
                raise ValueError(f"not a version range like >=1.2.0,<2.0.0: {text!r}")
            bounds.append(VersionBound(match[1] or "==", SemVer.parse(match[2])))
        return VersionRange(tuple(bounds))


def _caret_end(low: SemVer) -> SemVer:
    if low.major:
        return SemVer(low.major + 1, 0, 0, ("0",))
    if low.minor:
        return SemVer(0, low.minor + 1, 0, ("0",))
    return SemVer(0, 0, low.patch + 1, ("0",))


class Stability(Enum):
    """What is promised of a public name."""

    STABLE = "stable"
    EVOLVING = "evolving"
    INTERNAL = "internal"


def stability(level: Stability) -> Callable[[F], F]:
    """Mark a class or function with what is promised of it."""

    def mark(target: F) -> F:
        target.__stability__ = level  # type: ignore[union-attr]
        return target

    return mark


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A name that goes.

    Attributes:
        symbol: The name that goes.
        declared_in: The release in which the REPLACEMENT ships; extenders need the overlap.
        replacement: What to use instead.
        remove_after: The last release that still has `symbol`; later than `declared_in`.
    """

    symbol: str
    declared_in: SemVer
    replacement: str
    remove_after: SemVer

    def __post_init__(self) -> None:
        if self.remove_after <= self.declared_in:
            raise ValueError(f"{self.symbol}: remove_after must be later than declared_in")
