"""Passages read together with the question, by a model on another machine."""

import math
from collections.abc import Sequence

import httpx2

from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_domain.ports.reranker import RerankerPort
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

MAX_CHARACTERS = 8_000
"""Sent of one text; what a cross-encoder reads is shorter."""
MAX_BYTES = 4 * 2**20
TIMEOUT_S = 10.0

AWAY = HumanText("The service that ranks passages did not answer. Please try again.")


class CrossEncoderRerankerAdapter(RerankerPort):
    """Asks `POST {base_url}/rerank` with `model`, `query` and `documents`, for `results` of `index` and
    `relevance_score`: the form that Jina, Cohere, vLLM and llama.cpp share.

    Scores belong to the model, so its `RelevancePolicy` needs a floor of its own; one beyond 0 to 1 counts as the
    nearer of them. The answer has to judge every passage once, or it is none. The text of passages leaves the
    house: only for a server that may see it.

    Args:
        base_url: With its version, `https://rerank.example/v1`.
        key: Sent as a bearer token, where the server wants one.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        key: str | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._model = model
        self._url = f"{base_url.rstrip('/')}/rerank"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(
            headers=headers, timeout=TIMEOUT_S, transport=transport, trust_env=False
        )

    async def rank(self, question: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        if not chunks:
            return Ok(())
        body = {
            "model": self._model,
            "query": _sendable(question),
            "documents": [_sendable(chunk.indexed_text) for chunk in chunks],
            "top_n": len(chunks),
        }
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                answer = await _bounded(response)
            scores = _scores(httpx2.Response(200, content=answer).json(), len(chunks))
        except (httpx2.HTTPError, ValueError, KeyError, TypeError, RecursionError) as error:
            return Err(UpstreamError(AWAY, detail={"error": repr(error)}))
        ranked = map(ScoredChunk, chunks, scores)
        return Ok(sorted(ranked, key=lambda hit: -hit.score))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()


def _sendable(text: str) -> str:
    """Return the beginning, without halves of characters, which are not JSON; never empty: servers refuse that."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() or " "


async def _bounded(response: httpx2.Response) -> bytes:
    response.raise_for_status()
    read = bytearray()
    async for part in response.aiter_bytes():
        read += part
        if len(read) > MAX_BYTES:
            raise ValueError("the answer is too long")
    return bytes(read)


def _scores(answer: object, passages: int) -> list[float]:
    """Return one score a passage, in order; raise ValueError where the answer is not about exactly these."""
    if not isinstance(answer, dict):
        raise ValueError("the answer is no object")
    found = {result["index"]: float(result["relevance_score"]) for result in answer["results"]}
    if len(answer["results"]) != passages or found.keys() != set(range(passages)):
        raise ValueError("the answer does not judge every passage once")
    if not all(map(math.isfinite, found.values())):
        raise ValueError("a score is no number")
    return [min(max(found[at], 0.0), 1.0) for at in range(passages)]
