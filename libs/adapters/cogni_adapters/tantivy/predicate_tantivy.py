"""The access predicate as a Tantivy query over a passage's label fields."""

from collections.abc import Collection
from typing import assert_never

from tantivy import Occur, Query, Schema

from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate

_EVERY_VALUE = {"tenant": "tenant", "corpus": "corpus", "readers": "readers"}
_ONLY_VALUE = {"tenant": "tenant", "corpus": "corpus", "readers": "only_reader"}
"""Where the value stands of a field that holds one."""

_MOST_ALTERNATIVES = 64
"""Alternatives are looked up one by one, which is faster for a few; beyond this they are one set."""


def admitted(schema: Schema, predicate: Predicate) -> Query:
    """Return the query that matches exactly those passages whose labels satisfy `predicate`."""
    match predicate:
        case All(parts):
            if not parts:
                return Query.empty_query()
            return Query.boolean_query([(Occur.Must, admitted(schema, part)) for part in parts])
        case NoneOf(field, values):
            shares = _holds(schema, _EVERY_VALUE.get(field), values)
            return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, shares)])
        case Overlaps(field, values):
            return _holds(schema, _EVERY_VALUE.get(field), values)
        case Eq(field, value):
            return _holds(schema, _ONLY_VALUE.get(field), [value])
        case OneOf(field, values):
            return _holds(schema, _ONLY_VALUE.get(field), values)
        case _:
            assert_never(predicate)


def _holds(schema: Schema, field: str | None, values: Collection[str]) -> Query:
    if field is None or not values:
        return Query.empty_query()
    if len(values) > _MOST_ALTERNATIVES:
        return Query.term_set_query(schema, field, list(values))
    terms = [Query.term_query(schema, field, value, "basic") for value in values]
    return Query.boolean_query([(Occur.Should, term) for term in terms])
