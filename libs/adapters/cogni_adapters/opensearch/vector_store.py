"""Nearest neighbours by the engine's k-NN plugin."""

from collections.abc import Sequence

from opensearchpy import NotFoundError, OpenSearch

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
from cogni_domain.knowledge.index_checks import (
    MAX_K,
    OTHER_DIMENSION,
    refused_question,
    refused_vectors,
)
from cogni_domain.knowledge.partition_names import read_back
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import ChunkId, DocumentId, Ok, Result

EXACT_BELOW = 10_000
"""Visible passages that are compared one by one: below, that is quicker than the graph, and always right."""


class OpenSearchVectorStoreAdapter(VectorStorePort):
    """One index of the engine for each of ours.

    Few visible passages are compared exactly. Where there are many the graph is asked, with the filter inside, and
    what is short of `k` is asked again exactly.

    Source:
        DESIGN D2, D3, D9.
    """

    def __init__(self, client: OpenSearchClient) -> None:
        self._client = client
        self._dimensions: dict[str, int] = {}

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], vectors: Vectors
    ) -> Result[int]:
        if (refused := refused_vectors(index, chunks, vectors)) is not None:
            return refused
        if not chunks:
            return Ok(0)
        name, dimension = self._client.name("v", index), vectors.shape[1]
        rows = [
            passage(chunk) | {"embedding": vector}
            for chunk, vector in zip(chunks, vectors.tolist(), strict=True)
        ]

        def work(engine: OpenSearch) -> Result[int]:
            if self._dimension(engine, name) is None:
                create(engine, name, _index_of(dimension))
            if self._dimension(engine, name) != dimension:
                return OTHER_DIMENSION
            return replace(engine, name, {chunk.document_id for chunk in chunks}, rows)

        return await self._client.run(work)

    async def knn(
        self, index: IndexId, vector: Vectors, predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if (refused := refused_question(vector, k)) is not None:
            return refused
        name, reach = self._client.name("v", index), admitted(index, predicate)
        question = vector[0].tolist()

        def work(engine: OpenSearch) -> Result[Sequence[Hit]]:
            dimension = self._dimension(engine, name)
            if dimension is None:
                return Ok([])
            if dimension != len(question):
                return OTHER_DIMENSION
            visible = engine.count(index=name, body={"query": reach})["count"]
            found: Sequence[Hit] = []
            if visible > EXACT_BELOW:
                found = _hits(engine, name, _by_graph(question, reach), k)
            if len(found) < min(k, visible):
                found = _hits(engine, name, _exactly(question, reach), k)
            return Ok(found)

        return await self._client.run(work)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        return await self._client.run(
            lambda engine: delete(engine, self._client.name("v", index), documents)
        )

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        return await self._client.run(
            lambda engine: relabel(engine, self._client.name("v", index), document, readers)
        )

    def _dimension(self, engine: OpenSearch, name: str) -> int | None:
        """Return the length of the vectors of an index, None where it is not there."""
        if name not in self._dimensions:
            try:
                fields = engine.indices.get_mapping(index=name)[name]["mappings"]["properties"]
            except NotFoundError:
                return None
            self._dimensions[name] = int(fields["embedding"]["dimension"])
        return self._dimensions[name]


def _index_of(dimension: int) -> Body:
    graph = {"name": "hnsw", "engine": "lucene", "space_type": "innerproduct"}
    vector = {"type": "knn_vector", "dimension": dimension, "method": graph}
    return {
        "settings": {"index": {"knn": True, "number_of_shards": 1, "auto_expand_replicas": "0-1"}},
        "mappings": {"dynamic": "strict", "properties": PASSAGE_FIELDS | {"embedding": vector}},
    }


def _by_graph(question: Sequence[float], reach: Body) -> Body:
    return {"knn": {"embedding": {"vector": question, "k": MAX_K, "filter": reach}}}


def _exactly(question: Sequence[float], reach: Body) -> Body:
    parameters = {"field": "embedding", "query_value": question, "space_type": "innerproduct"}
    script = {"source": "knn_score", "lang": "knn", "params": parameters}
    return {"script_score": {"query": {"bool": {"filter": [reach]}}, "script": script}}


def _hits(engine: OpenSearch, name: str, query: Body, k: int) -> Sequence[Hit]:
    body = {
        "query": query,
        "size": k,
        "_source": ["chunk", "document"],
        "sort": [{"_score": "desc"}, {"chunk": "asc"}],
        "track_scores": True,
    }
    found = search(engine, name, body)
    return [_hit(hit) for hit in found["hits"]["hits"]] if found else []


def _hit(hit: Body) -> Hit:
    chunk, document = (read_back(hit["_source"][name]) for name in ("chunk", "document"))
    return Hit(ChunkId(chunk), DocumentId(document), _inner_product(hit["_score"]))


def _inner_product(score: float) -> float:
    """Return the product that the engine, whose scores are never negative, made a score of."""
    return score - 1 if score >= 1 else 1 - 1 / score
