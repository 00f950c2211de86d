"""One client for both searches: indexes, what is written to them, and errors as values."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

from opensearchpy import NotFoundError, OpenSearch, OpenSearchException, RequestError

from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, IndexId
from cogni_domain.knowledge.partition_names import kept, partition_name
from cogni_kernel import DocumentId, Err, HumanText, Ok, Result, UpstreamError

T = TypeVar("T")
Body: TypeAlias = Mapping[str, Any]

UNAVAILABLE = HumanText("The search engine did not answer. Please try again in a minute.")
WRITTEN_AT_ONCE = 500
TIMEOUT_S = 30

_RELABEL = """
if (ctx._source.readers.equals(params.readers)) { ctx.op = 'noop' }
else { ctx._source.readers = params.readers; ctx._source.remove('only_reader');
  if (params.readers.size() == 1) { ctx._source.only_reader = params.readers[0] } }
"""

PASSAGE_FIELDS: dict[str, Any] = {
    "chunk": {"type": "keyword"},
    "document": {"type": "keyword"},
    "readers": {"type": "keyword"},
    "only_reader": {"type": "keyword"},
}


class OpenSearchClient:
    """Holds the connections; calls run in threads, and every write can be found when it returns.

    Args:
        url: Of the engine, with name and password where it asks for them.
        prefix: Of every index's name, where several products share an engine.
    """

    def __init__(self, url: str, prefix: str = "cogni") -> None:
        self._engine = OpenSearch(url, timeout=TIMEOUT_S, max_retries=0)
        self._prefix = prefix

    def name(self, kind: str, index: IndexId) -> str:
        """Return the engine's name of an index: no two share one, whatever their ids hold."""
        return f"{self._prefix}-{kind}-{partition_name(index)}"

    async def run(self, work: Callable[[OpenSearch], Result[T]]) -> Result[T]:
        """Run `work` in a thread; whatever the engine raises becomes an UpstreamError here."""
        return await asyncio.to_thread(self._run, work)

    async def drop(self) -> Result[None]:
        """Delete every index under this prefix, with all that is in it."""

        def work(engine: OpenSearch) -> Result[None]:
            engine.indices.delete(index=f"{self._prefix}-*")
            return Ok(None)

        return await self.run(work)

    async def close(self) -> None:
        """Disconnect."""
        await asyncio.to_thread(self._engine.close)

    def _run(self, work: Callable[[OpenSearch], Result[T]]) -> Result[T]:
        try:
            return work(self._engine)
        except OpenSearchException as error:
            return Err(UpstreamError(UNAVAILABLE, detail={"error": repr(error)[:500]}))


def passage(chunk: Chunk) -> dict[str, Any]:
    """Return the fields of a passage that both searches keep."""
    return {
        "chunk": kept(chunk.id),
        "document": kept(chunk.document_id),
        **_readers(chunk.readers),
    }


def create(engine: OpenSearch, name: str, body: Body) -> None:
    """Make an index where it is not there; another process may be making it too."""
    if engine.indices.exists(index=name):
        return
    try:
        engine.indices.create(index=name, body=body)
    except RequestError as error:
        if error.error != "resource_already_exists_exception":
            raise


def search(engine: OpenSearch, name: str, body: Body) -> Body | None:
    """Return the engine's answer, None where nothing was ever written to the index."""
    try:
        found: Body = engine.search(index=name, body=body)
    except NotFoundError:
        return None
    return found


def replace(
    engine: OpenSearch, name: str, documents: Iterable[DocumentId], rows: Sequence[Body]
) -> Result[int]:
    """Write passages, then remove what else the index has of their documents."""
    ids = [sha256(row["chunk"].encode()).hexdigest() for row in rows]
    for start in range(0, len(rows), WRITTEN_AT_ONCE):
        lines: list[Body] = []
        for each, row in zip(ids[start:], rows[start : start + WRITTEN_AT_ONCE], strict=False):
            lines += [{"index": {"_id": each}}, row]
        done = engine.bulk(index=name, body=lines, refresh=True)
        if done["errors"]:
            return Err(UpstreamError(UNAVAILABLE, detail={"error": str(done["items"])[:500]}))
    query = {"bool": {"filter": [_of(documents)], "must_not": [{"ids": {"values": ids}}]}}
    _delete(engine, name, query)
    return Ok(len(rows))


def delete(engine: OpenSearch, name: str, documents: Iterable[DocumentId]) -> Result[int]:
    """Remove every passage of the documents; return how many went."""
    try:
        return Ok(_delete(engine, name, _of(documents)))
    except NotFoundError:
        return Ok(0)


def relabel(
    engine: OpenSearch, name: str, document: DocumentId, readers: frozenset[ReaderToken]
) -> Result[int]:
    """Give the passages of a document other readers; return how many had others."""
    script = {"source": _RELABEL, "params": {"readers": _readers(readers)["readers"]}}
    body = {"query": _of([document]), "script": script}
    try:
        done = engine.update_by_query(index=name, body=body, refresh=True)
    except NotFoundError:
        return Ok(0)
    return Ok(int(done["updated"]))


def _delete(engine: OpenSearch, name: str, query: Body) -> int:
    done = engine.delete_by_query(index=name, body={"query": query}, refresh=True)
    return int(done["deleted"])


def _of(documents: Iterable[DocumentId]) -> Body:
    return {"terms": {"document": [kept(document) for document in documents]}}


def _readers(readers: frozenset[ReaderToken]) -> dict[str, Any]:
    tokens = sorted(map(kept, readers))
    return {"readers": tokens} | ({"only_reader": tokens[0]} if len(tokens) == 1 else {})
