"""The access predicate as a filter over a passage's readers."""

from collections.abc import Collection

from qdrant_client import models

from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate
from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.knowledge.partition_names import kept


def admitted(index: IndexId, predicate: Predicate) -> models.Filter:
    """Return the filter that matches exactly those passages of the index whose labels satisfy `predicate`.

    Tenant and corpus are the collection's own: they are decided here.
    """
    match predicate:
        case All(parts):
            if not parts:
                return _nothing()
            return models.Filter(must=[admitted(index, part) for part in parts])
        case NoneOf(field, values):
            return models.Filter(must_not=[_shares(index, field, "readers", values)])
        case Overlaps(field, values):
            return _shares(index, field, "readers", values)
        case Eq(field, value):
            return _shares(index, field, "only_reader", [value])
        case OneOf(field, values):
            return _shares(index, field, "only_reader", values)


def _shares(index: IndexId, field: str, kept_in: str, values: Collection[str]) -> models.Filter:
    if field == "readers" and values:
        any_of = models.MatchAny(any=sorted(map(kept, values)))
        return models.Filter(must=[models.FieldCondition(key=kept_in, match=any_of)])
    place = {"tenant": str(index.tenant_id), "corpus": str(index.corpus_id)}.get(field)
    return models.Filter() if place in values else _nothing()


def _nothing() -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=[])])
