"""The predicate over a chunk's labels: five forms, one reference evaluator.

Only `scope.py` builds one; every store compiles it into its own filter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Labels: TypeAlias = Mapping[str, frozenset[str]]
"""Values of a chunk by field: `tenant`, `corpus`, `readers`."""


@dataclass(frozen=True, slots=True)
class Eq:
    """The field holds exactly this one value."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field holds one value, and it is one of these."""

    field: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The field shares a value with these."""

    field: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The field shares no value with these."""

    field: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; without parts nothing is admitted, so that a lost filter opens nothing."""

    parts: tuple["Predicate", ...]


Predicate: TypeAlias = Eq | OneOf | Overlaps | NoneOf | All


def admits(predicate: Predicate, labels: Labels) -> bool:
    """Tell whether `labels` satisfy `predicate`: the reference that every compiler must equal."""
    match predicate:
        case Eq(field, value):
            return labels.get(field) == frozenset({value})
        case OneOf(field, values):
            found = labels.get(field, frozenset())
            return len(found) == 1 and found <= values
        case Overlaps(field, values):
            return bool(labels.get(field, frozenset()) & values)
        case NoneOf(field, values):
            return not labels.get(field, frozenset()) & values
        case _:
            return bool(predicate.parts) and all(admits(part, labels) for part in predicate.parts)
