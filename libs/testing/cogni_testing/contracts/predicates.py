"""Predicates of every form, to be tried on passages of every small set of readers."""

import random
from itertools import combinations

from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Document
from cogni_testing.contracts.knowledge import ACME, GLOBEX, HANDBOOK, TICKETS, a_document

_TOKENS = ("everyone", "u:1", "g:w/x", "g:w/x\0", "g:w/'")
_VALUES = (*_TOKENS, *map(str, (ACME, GLOBEX, HANDBOOK, TICKETS)))
_FIELDS = (*("readers",) * 6, "tenant", "corpus", "colour")

MANY_RULES = tuple(
    AccessRule.any_of(*tokens) for size in range(4) for tokens in combinations(_TOKENS, size)
)
"""One for each set of up to three readers."""


def rule_document(rule: AccessRule) -> Document:
    """Return a document that a rule is on, and that no other rule of these shares."""
    return a_document("|".join(sorted(rule.readers)) or "nobody", rule)


def many_predicates(count: int = 100) -> list[Predicate]:
    """Return the same predicates each time, nested up to three deep."""
    dice = random.Random(count)  # noqa: S311 - nothing secret

    def one(depth: int) -> Predicate:
        field = dice.choice(_FIELDS)
        values = frozenset(dice.sample(_VALUES, dice.randint(0, 5)))
        form = dice.randint(0, 6 if depth < 3 else 3)
        if form == 0:
            return Eq(field, dice.choice(_VALUES))
        if form < 4:
            return (OneOf, Overlaps, NoneOf)[form - 1](field, values)
        return All(tuple(one(depth + 1) for _ in range(dice.choice((0, 1, 2, 2, 2)))))

    return [one(0) for _ in range(count)]
