"""Terms in the engine's index, scored by our own numbers: the level of a term is how often it is written."""

from collections.abc import Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch

from cogni_adapters.opensearch.client import (
    PASSAGE_FIELDS,
    Body,
    OpenSearchClient,
    create,
    delete,
    passage,
    relabel,
    replace,
    search,
)
from cogni_adapters.opensearch.predicate_query import admitted
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.knowledge.index_checks import BAD_K, MAX_K, refused_passages
from cogni_domain.knowledge.keyword_scores import (
    asked,
    heavy,
    levels,
    score,
    term_number,
    tie,
    weights,
)
from cogni_domain.knowledge.partition_names import read_back
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_kernel import ChunkId, DocumentId, Ok, Result

_SIGNED = 1 << 63

INDEX: Body = {
    "settings": {
        "index": {
            "number_of_shards": 1,
            "auto_expand_replicas": "0-1",
            "similarity": {
                "levels": {
                    "type": "scripted",
                    "script": {"source": "double points = query.boost * doc.freq; return points;"},
                }
            },
        }
    },
    "mappings": {
        "dynamic": "strict",
        "properties": PASSAGE_FIELDS
        | {
            "tie": {"type": "long"},
            "words": {
                "type": "text",
                "analyzer": "whitespace",
                "similarity": "levels",
                "norms": False,
                "index_options": "freqs",
            },
        },
    },
}


class OpenSearchKeywordSearchAdapter(KeywordSearchPort):
    """One index of the engine for each of ours.

    The engine's own scores count over the whole index, so they are not used: what is visible is counted first, and
    each term then gives its weight times its level.

    Source:
        DESIGN D2, D4, D9; docs/adr/0003-keyword-scores.md.
    """

    def __init__(self, client: OpenSearchClient) -> None:
        self._client = client

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], terms: Sequence[Sequence[str]]
    ) -> Result[int]:
        if (refused := refused_passages(index, chunks)) is not None:
            return refused
        if not chunks:
            return Ok(0)
        name = self._client.name("k", index)
        rows = [_row(chunk, each) for chunk, each in zip(chunks, terms, strict=True)]

        def work(engine: OpenSearch) -> Result[int]:
            create(engine, name, INDEX)
            return replace(engine, name, {chunk.document_id for chunk in chunks}, rows)

        return await self._client.run(work)

    async def search(
        self, index: IndexId, terms: Sequence[str], predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if not 1 <= k <= MAX_K:
            return BAD_K
        name, reach, question = (
            self._client.name("k", index),
            admitted(index, predicate),
            asked(terms),
        )

        def work(engine: OpenSearch) -> Result[Sequence[Hit]]:
            if not question:
                return Ok([])
            visible, held = _counted(engine, name, reach, list(question))
            weighed = weights(question, visible, held)
            deciding = heavy(weighed)
            found = _best(engine, name, deciding, reach, k)
            if len(found) < k and len(deciding) < len(weighed):
                found = _best(engine, name, weighed, reach, k)
            return Ok(found)

        return await self._client.run(work)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        return await self._client.run(
            lambda engine: delete(engine, self._client.name("k", index), documents)
        )

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        return await self._client.run(
            lambda engine: relabel(engine, self._client.name("k", index), document, readers)
        )


def _row(chunk: Chunk, terms: Sequence[str]) -> Body:
    words = (word for term, level in levels(terms).items() for word in [_word(term)] * level)
    return passage(chunk) | {"words": " ".join(words), "tie": tie(chunk.id) - _SIGNED}


def _word(term: str) -> str:
    """Return what stands in the index for a term, whatever the term holds."""
    return f"{term_number(term):016x}"


def _counted(
    engine: OpenSearch, name: str, reach: Body, terms: Sequence[str]
) -> tuple[int, Mapping[str, int]]:
    """Count the visible passages, and those of them that hold each term."""
    words = {_word(term): term for term in terms}
    filters = {word: {"term": {"words": word}} for word in words}
    body = {
        "query": {"bool": {"filter": [reach]}},
        "size": 0,
        "track_total_hits": True,
        "aggs": {"held": {"filters": {"filters": filters}}},
    }
    found = search(engine, name, body)
    if found is None:
        return 0, {}
    buckets = found["aggregations"]["held"]["buckets"]
    held = {words[word]: int(bucket["doc_count"]) for word, bucket in buckets.items()}
    return int(found["hits"]["total"]["value"]), held


def _best(
    engine: OpenSearch, name: str, weighed: Mapping[str, int], reach: Body, k: int
) -> Sequence[Hit]:
    if not weighed:
        return []
    terms: list[dict[str, Any]] = [
        {"term": {"words": {"value": _word(term), "boost": weight}}}
        for term, weight in weighed.items()
    ]
    body = {
        "query": {"bool": {"filter": [reach], "should": terms, "minimum_should_match": 1}},
        "size": k,
        "_source": ["chunk", "document"],
        "sort": [{"_score": "desc"}, {"tie": "asc"}],
        "track_scores": True,
    }
    found = search(engine, name, body)
    return [_hit(hit) for hit in found["hits"]["hits"]] if found else []


def _hit(hit: Body) -> Hit:
    chunk, document = (read_back(hit["_source"][name]) for name in ("chunk", "document"))
    return Hit(ChunkId(chunk), DocumentId(document), score(hit["_score"]))
