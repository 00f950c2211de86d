"""Searching among the passages that one predicate admits: they alone are counted, scored and ordered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tantivy import DocAddress, Occur, Query, Schema, Searcher, SearchResult

from cogni_adapters.tantivy.predicate_tantivy import admitted
from cogni_adapters.tantivy.scoring import at_every_level
from cogni_domain.access.predicate import Predicate
from cogni_domain.knowledge.corpus import Hit
from cogni_domain.knowledge.keyword_scores import asked, heavy, score, weights
from cogni_kernel import ChunkId, DocumentId

_SPARE = 64
"""Fetched beyond k: the engine cuts equal scores in an order that hidden passages can move."""

_Scored: TypeAlias = tuple[float, DocAddress]


class VisibleSearch:
    """One predicate on one state of an index."""

    def __init__(self, searcher: Searcher, schema: Schema, predicate: Predicate) -> None:
        self._searcher = searcher
        self._schema = schema
        self._filter = Query.const_score_query(admitted(schema, predicate), 0.0)

    def best(self, terms: Sequence[str], k: int) -> list[Hit]:
        """Return the `k` best that hold one of the terms, equal ones in one order for all."""
        weighed = self._weights(terms)
        if not weighed:
            return []
        deciding = heavy(weighed)
        found = self._scored(deciding, k)
        if len(found) < k and len(deciding) < len(weighed):
            found = self._scored(weighed, k)
        return self._hits(found)

    def _weights(self, terms: Sequence[str]) -> dict[str, int]:
        """The terms that a visible passage holds, by how rare they are and how often they are asked for."""
        visible = self._count(self._filter)
        question = asked(terms)
        held = {term: self._count(self._among(_any_of(self._words(term)))) for term in question}
        return weights(question, visible, held)

    def _scored(self, weighed: Mapping[str, int], k: int) -> list[_Scored]:
        steps = [
            Query.const_score_query(word, float(weight * level))
            for term, weight in weighed.items()
            for level, word in enumerate(self._words(term), start=1)
        ]
        query = self._among(_any_of(steps))
        found = self._searcher.search(query, k + _SPARE)
        hits: list[_Scored] = found.hits
        if total(found) > len(hits) and hits[-1][0] == hits[k - 1][0]:
            hits = self._searcher.search(query, total(found)).hits
        return self._in_order(hits, k)

    def _in_order(self, hits: Sequence[_Scored], k: int) -> list[_Scored]:
        ties = self._searcher.fast_field_values("tie", [address for _, address in hits])
        order = sorted(range(len(hits)), key=lambda at: (-hits[at][0], ties[at]))
        return [hits[at] for at in order[:k]]

    def _hits(self, scored: Iterable[_Scored]) -> list[Hit]:
        documents = [(points, self._searcher.doc(address)) for points, address in scored]
        return [
            Hit(
                ChunkId(document["chunk"][0]),
                DocumentId(document["document"][0]),
                score(points),
            )
            for points, document in documents
        ]

    def _words(self, term: str) -> list[Query]:
        return [
            Query.term_query(self._schema, "terms", word, "basic") for word in at_every_level(term)
        ]

    def _among(self, query: Query) -> Query:
        return Query.boolean_query([(Occur.Must, self._filter), (Occur.Must, query)])

    def _count(self, query: Query) -> int:
        return total(self._searcher.search(Query.const_score_query(query, 0.0), 1))


def total(found: SearchResult) -> int:
    """Return how many match, fetched or not; the engine's type stubs leave it out."""
    matching: int = found.count  # type: ignore[attr-defined]
    return matching


def _any_of(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])
