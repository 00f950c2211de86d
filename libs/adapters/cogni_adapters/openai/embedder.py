"""Texts to vectors, by OpenAI or a server that speaks its embeddings."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence

import httpx2
import numpy as np
import openai

from cogni_adapters.openai.client import connect
from cogni_adapters.openai.failures import described
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.providers.failures import AWAY, REFUSED
from cogni_domain.providers.pinning import pinned
from cogni_engine import RetryPolicy
from cogni_kernel import DefinitionError, Err, Ok, Result, UpstreamError

MOST_TEXTS = 256
MOST_BYTES = 250_000
MOST_TEXT_BYTES = 8_191
"""A token is at least one byte, so what fits in bytes fits in tokens, whatever the language."""

_BLANK = "-"
_OWN_DIMENSIONS = {
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}


class OpenAIEmbedderAdapter(EmbedderPort):
    """One pinned embedding model. A text beyond what the model reads is cut; passages are far shorter.

    Args:
        model: Its name, which can mean one model only.
        api_key: As the server wants it.
        base_url: Where the server is, `http://127.0.0.1:8000/v1`; None for OpenAI itself.
        dimension: The length of a vector; None for the model's own, where it is known.
        retry: When a batch is tried again; embedding changes nothing, so it may be.

    Raises:
        DefinitionError: The model is missing or floating, or nobody knows its dimension.

    Source:
        COGNI.BUILD spec, package adapters, "OpenAIEmbedderAdapter".
    """

    def __init__(
        self,
        model: str,
        api_key: str,
        base_url: str | None = None,
        *,
        dimension: int | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._model = pinned(model)
        own = _OWN_DIMENSIONS.get(self._model)
        self._dimension = dimension or own or 0
        if not self._dimension:
            raise DefinitionError(f"{model!r}: say the length of its vectors, like 1024")
        self._asks_dimension = own is not None and self._dimension != own
        self._retry = retry or RetryPolicy()
        self._client = connect(api_key, base_url)

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def version(self) -> str:
        return f"{self._model}/{self._dimension}"

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        found = [np.empty((0, self._dimension), np.float32)]
        for batch in _batches([_readable(text) for text in texts]):
            vectors = await self._patiently(batch)
            if isinstance(vectors, Err):
                return vectors
            found.append(vectors.value)
        return Ok(np.concatenate(found))

    async def _patiently(self, batch: Sequence[str]) -> Result[Vectors]:
        attempt = 1
        while True:
            result = await self._asked(batch)
            if isinstance(result, Ok):
                return result
            wait_s = self._retry.wait_s(attempt, result.error)
            if wait_s is None:
                return result
            await self._retry.sleep(wait_s)
            attempt += 1

    async def _asked(self, batch: Sequence[str]) -> Result[Vectors]:
        body: dict[str, object] = {"model": self._model, "input": list(batch)}
        body["encoding_format"] = "base64"
        if self._asks_dimension:
            body["dimensions"] = self._dimension
        embeddings = self._client.embeddings.with_streaming_response
        try:
            async with embeddings.create(
                model=self._model, input="", encoding_format="base64", extra_body=body
            ) as answer:
                return self._read(await answer.read(), len(batch))
        except (openai.OpenAIError, httpx2.HTTPError) as failure:
            return Err(described(failure))

    def _read(self, answer: bytes, count: int) -> Result[Vectors]:
        """Return the vectors of an answer in the order of their texts, each of length 1."""
        try:
            rows = sorted(json.loads(answer)["data"], key=lambda row: int(row["index"]))
            vectors = [_vector(row["embedding"]) for row in rows]
        except (ValueError, TypeError, LookupError) as wrong:
            return Err(UpstreamError(AWAY, detail={"failure": type(wrong).__name__}))
        lengths = {len(vector) for vector in vectors}
        if len(vectors) != count or not lengths <= {self._dimension}:
            detail = {"texts": count, "vectors": len(vectors), "dimensions": sorted(lengths)}
            return Err(UpstreamError(REFUSED, retryable=False, detail=detail))
        found: Vectors = np.stack(vectors)
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and norms.all()):
            return Err(UpstreamError(AWAY, detail={"failure": "a vector without a direction"}))
        return Ok(found / norms)


def _readable(text: str) -> str:
    """Return what is sent for a text: none is blank and none too long."""
    written = text.encode("utf-8", "replace")[:MOST_TEXT_BYTES].decode("utf-8", "ignore")
    return written if written.strip() else _BLANK


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        cost = len(text.encode())
        if batch and (len(batch) == MOST_TEXTS or size + cost > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += cost
    if batch:
        yield batch


def _vector(written: object) -> Vectors:
    """Return one vector; some servers write numbers, whatever they are asked for."""
    if isinstance(written, str):
        return np.frombuffer(base64.b64decode(written), dtype="<f4").astype(np.float32)
    if isinstance(written, Mapping):
        raise TypeError("a vector is no object")
    return np.asarray(written, dtype=np.float32)
