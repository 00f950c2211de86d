"""Nearest neighbours by Qdrant, on a server or in the client's local mode."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from hashlib import sha256
from typing import TypeVar
from uuid import UUID

from httpx import HTTPError
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException

from cogni_adapters.qdrant.predicate_filter import admitted
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit, IndexId
from cogni_domain.knowledge.index_checks import (
    OTHER_DIMENSION,
    refused_question,
    refused_vectors,
)
from cogni_domain.knowledge.partition_names import kept, partition_name, read_back
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import ChunkId, DocumentId, Err, HumanText, Ok, Result, UpstreamError

T = TypeVar("T")

EXACT_BELOW = 10_000
"""Visible passages that are compared one by one: below, that is quicker than the graph, and always right."""

WRITTEN_AT_ONCE = 500
SPARE = 64
"""Fetched beyond k: the engine has no order for equal scores."""

UNAVAILABLE = HumanText("The vector store did not answer. Please try again in a minute.")


def open_client(url: str, key: str | None = None) -> AsyncQdrantClient:
    """Return a client of a server, which is not asked for anything yet."""
    return AsyncQdrantClient(url=url, api_key=key, check_compatibility=False)


class QdrantVectorStoreAdapter(VectorStorePort):
    """One collection for each index.

    Few visible passages are compared exactly. Where there are many the graph is asked, with the filter inside, and
    what is short of `k` is asked again exactly.

    Args:
        client: To a server; closed by whoever opened it.
        prefix: Of every collection's name, where several products share a server.

    Source:
        DESIGN D2, D3, D9.
    """

    def __init__(self, client: AsyncQdrantClient, prefix: str = "cogni") -> None:
        self._client = client
        self._prefix = prefix
        self._dimensions: dict[str, int] = {}

    async def upsert(
        self, index: IndexId, chunks: Sequence[Chunk], vectors: Vectors
    ) -> Result[int]:
        if (refused := refused_vectors(index, chunks, vectors)) is not None:
            return refused
        if not chunks:
            return Ok(0)
        name, dimension = self._name(index), vectors.shape[1]
        points = [
            models.PointStruct(id=_id(chunk), vector=vector, payload=_payload(chunk))
            for chunk, vector in zip(chunks, vectors.tolist(), strict=True)
        ]

        async def work() -> Result[int]:
            if await self._dimension(name) is None:
                await self._create(name, dimension)
            if await self._dimension(name) != dimension:
                return OTHER_DIMENSION
            for start in range(0, len(points), WRITTEN_AT_ONCE):
                await self._client.upsert(name, points[start : start + WRITTEN_AT_ONCE], wait=True)
            others = models.Filter(
                must=[_of(chunk.document_id for chunk in chunks)],
                must_not=[models.HasIdCondition(has_id=[point.id for point in points])],
            )
            await self._client.delete(name, models.FilterSelector(filter=others), wait=True)
            return Ok(len(points))

        return await _answered(work)

    async def knn(
        self, index: IndexId, vector: Vectors, predicate: Predicate, k: int
    ) -> Result[Sequence[Hit]]:
        if (refused := refused_question(vector, k)) is not None:
            return refused
        name, reach = self._name(index), admitted(index, predicate)
        question = vector[0].tolist()

        async def work() -> Result[Sequence[Hit]]:
            dimension = await self._dimension(name)
            if dimension is None:
                return Ok([])
            if dimension != len(question):
                return OTHER_DIMENSION
            visible = (await self._client.count(name, reach, exact=True)).count
            found: list[Hit] = []
            if visible > EXACT_BELOW:
                found = await self._nearest(name, question, reach, k, exact=False)
            if len(found) < min(k, visible):
                found = await self._nearest(name, question, reach, k, exact=True)
            return Ok(found)

        return await _answered(work)

    async def delete(self, index: IndexId, documents: Sequence[DocumentId]) -> Result[int]:
        name = self._name(index)

        async def work() -> Result[int]:
            if await self._dimension(name) is None:
                return Ok(0)
            these = models.Filter(must=[_of(documents)])
            gone = (await self._client.count(name, these, exact=True)).count
            await self._client.delete(name, models.FilterSelector(filter=these), wait=True)
            return Ok(gone)

        return await _answered(work)

    async def relabel(
        self, index: IndexId, document: DocumentId, readers: frozenset[ReaderToken]
    ) -> Result[int]:
        name, labels = self._name(index), _readers(readers)

        async def work() -> Result[int]:
            if await self._dimension(name) is None:
                return Ok(0)
            changing = await self._with_other_readers(name, document, labels["readers"])
            if changing:
                await self._client.set_payload(name, labels, points=changing, wait=True)
            return Ok(len(changing))

        return await _answered(work)

    async def _with_other_readers(
        self, name: str, document: DocumentId, readers: Sequence[str]
    ) -> list[models.ExtendedPointId]:
        found: list[models.ExtendedPointId] = []
        offset: models.ExtendedPointId | None = None
        while True:
            points, offset = await self._client.scroll(
                name, models.Filter(must=[_of([document])]), limit=1_000, offset=offset
            )
            found += [each.id for each in points if (each.payload or {})["readers"] != readers]
            if offset is None:
                return found

    async def _nearest(
        self, name: str, question: list[float], reach: models.Filter, k: int, *, exact: bool
    ) -> list[Hit]:
        limit = k + SPARE
        while True:
            found = await self._client.query_points(
                name,
                query=question,
                query_filter=reach,
                limit=limit,
                search_params=models.SearchParams(exact=exact),
            )
            points = found.points
            if len(points) < limit or points[-1].score < points[k - 1].score:
                hits = sorted(map(_hit, points), key=lambda hit: (-hit.score, hit.chunk_id))
                return hits[:k]
            limit *= 4

    async def _create(self, name: str, dimension: int) -> None:
        vectors = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        try:
            await self._client.create_collection(name, vectors_config=vectors)
        except ApiException:
            if not await self._client.collection_exists(name):
                raise
        for field in ("document", "readers", "only_reader"):
            await self._client.create_payload_index(
                name, field, models.PayloadSchemaType.KEYWORD, wait=True
            )

    async def _dimension(self, name: str) -> int | None:
        """Return the length of the vectors of a collection, None where it is not there."""
        if name not in self._dimensions:
            if not await self._client.collection_exists(name):
                return None
            vectors = (await self._client.get_collection(name)).config.params.vectors
            assert isinstance(vectors, models.VectorParams)
            self._dimensions[name] = vectors.size
        return self._dimensions[name]

    def _name(self, index: IndexId) -> str:
        return f"{self._prefix}-{partition_name(index)}"


async def _answered(work: Callable[[], Awaitable[Result[T]]]) -> Result[T]:
    try:
        return await work()
    except (ApiException, HTTPError) as error:
        return Err(UpstreamError(UNAVAILABLE, detail={"error": repr(error)[:500]}))


def _id(chunk: Chunk) -> str:
    return str(UUID(bytes=sha256(kept(chunk.id).encode()).digest()[:16]))


def _payload(chunk: Chunk) -> dict[str, object]:
    return {
        "chunk": kept(chunk.id),
        "document": kept(chunk.document_id),
        **_readers(chunk.readers),
    }


def _readers(readers: frozenset[ReaderToken]) -> dict[str, list[str]]:
    tokens = sorted(map(kept, readers))
    return {"readers": tokens, "only_reader": tokens if len(tokens) == 1 else []}


def _of(documents: Iterable[DocumentId]) -> models.FieldCondition:
    any_of = models.MatchAny(any=sorted({kept(document) for document in documents}))
    return models.FieldCondition(key="document", match=any_of)


def _hit(point: models.ScoredPoint) -> Hit:
    payload = point.payload or {}
    chunk, document = (read_back(payload[name]) for name in ("chunk", "document"))
    return Hit(ChunkId(chunk), DocumentId(document), point.score)
