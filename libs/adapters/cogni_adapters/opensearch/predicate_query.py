"""The access predicate as a filter over a passage's readers."""

from collections.abc import Collection

from cogni_adapters.opensearch.client import Body
from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate
from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.knowledge.partition_names import kept

_NOTHING: Body = {"match_none": {}}
_EVERYTHING: Body = {"match_all": {}}


def admitted(index: IndexId, predicate: Predicate) -> Body:
    """Return the filter that matches exactly those passages of the index whose labels satisfy `predicate`.

    Tenant and corpus are the index's own: they are decided here.
    """
    match predicate:
        case All(parts):
            if not parts:
                return _NOTHING
            return {"bool": {"filter": [admitted(index, part) for part in parts]}}
        case NoneOf(field, values):
            return {"bool": {"must_not": [_shares(index, field, "readers", values)]}}
        case Overlaps(field, values):
            return _shares(index, field, "readers", values)
        case Eq(field, value):
            return _shares(index, field, "only_reader", [value])
        case OneOf(field, values):
            return _shares(index, field, "only_reader", values)


def _shares(index: IndexId, field: str, kept_in: str, values: Collection[str]) -> Body:
    if field == "readers":
        return {"terms": {kept_in: sorted(map(kept, values))}}
    place = {"tenant": str(index.tenant_id), "corpus": str(index.corpus_id)}.get(field)
    return _EVERYTHING if place in values else _NOTHING
