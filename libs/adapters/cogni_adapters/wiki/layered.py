"""Rules where a nearer place overrules a farther one, brought into the one form that an access rule has.

Of all levels that name a reader only the nearest counts; there, one allowance is enough. As a formula: who is
allowed at the nearest level, or who is not named there and may read by the next one. That is a conjunction of
clauses "one of these, or none of those". It is an access rule exactly where, once everything implied is left
out, no clause mixes the two; the others cannot be mapped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.tokens import EVERYONE

MAX_CLAUSES = 300

MIXED = Unmappable(
    "Its access list allows somebody what it denies a group that they may be in. Name who may read instead."
)
TOO_MANY = Unmappable("Its access list has too many entries at one place. Use groups there.")


@dataclass(frozen=True, slots=True)
class Level:
    """One place's rules: tokens that may read there, and tokens that may not."""

    allowed: frozenset[str]
    denied: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Mixed:
    """One of `some`, or not one of `none`."""

    some: frozenset[str]
    none: frozenset[str] = frozenset()

    @property
    def says_nothing(self) -> bool:
        return EVERYONE in self.some or bool(self.some & self.none)

    def implies(self, other: "_Mixed") -> bool:
        return self.some <= other.some and self.none <= other.none


def rule_of(levels: Sequence[Level]) -> AccessRule | Unmappable:
    """Return who may read under these levels, the nearest first; nobody where none names them."""
    clauses = {_Mixed(frozenset())}
    for level in reversed(levels):
        clauses = _under(level, clauses)
        if len(clauses) > MAX_CLAUSES:
            return TOO_MANY
    prime = _prime(clauses)
    if prime is None:
        return TOO_MANY
    if any(clause.none and (clause.some or len(clause.none) > 1) for clause in prime):
        return MIXED
    needed = [clause.some for clause in prime if not clause.none] or [frozenset({EVERYONE})]
    denied = frozenset[str]().union(*(clause.none for clause in prime))
    rule = AccessRule.any_of(*needed[0])
    for clause in needed[1:]:
        rule = rule.restricted_to(*clause)
    return rule.except_for(*denied).simplified()


def _under(level: Level, farther: set[_Mixed]) -> set[_Mixed]:
    """Return the formula of a level above all farther ones."""
    if EVERYONE in level.allowed | level.denied:
        return {_Mixed(level.allowed)}
    unless = {_Mixed(level.allowed, frozenset({token})) for token in level.denied}
    return unless | {_Mixed(level.allowed | clause.some, clause.none) for clause in farther}


def _prime(clauses: set[_Mixed]) -> set[_Mixed] | None:
    """Return the shortest clauses that follow, by resolution; None where they are too many."""
    found = _shortest(clauses)
    while True:
        new = {
            resolved
            for one in found
            for other in found
            for token in one.some & other.none
            if not (resolved := _resolved(one, other, token)).says_nothing
            and not any(known.implies(resolved) for known in found)
        }
        if not new:
            return found
        if len(new) > MAX_CLAUSES:
            return None
        found = _shortest(found | new)


def _resolved(one: _Mixed, other: _Mixed, token: str) -> _Mixed:
    return _Mixed((one.some - {token}) | other.some, one.none | (other.none - {token}))


def _shortest(clauses: set[_Mixed]) -> set[_Mixed]:
    saying = {clause for clause in clauses if not clause.says_nothing}
    return {c for c in saying if not any(other != c and other.implies(c) for other in saying)}
