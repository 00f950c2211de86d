import json
from collections.abc import Callable

import httpx2
import pytest

from cogni_adapters.cross_encoder.reranker import MAX_BYTES, CrossEncoderRerankerAdapter
from cogni_domain.ports.reranker import RerankerPort
from cogni_kernel import UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.reranker import ANSWER, OTHER, QUESTION, RerankerContract, passages


def reranker(
    answer: Callable[[httpx2.Request], httpx2.Response], key: str | None = None
) -> CrossEncoderRerankerAdapter:
    transport = httpx2.MockTransport(answer)
    return CrossEncoderRerankerAdapter("http://rerank/v1/", "m", key, transport=transport)


def by_shared_words(request: httpx2.Request) -> httpx2.Response:
    """Judges as a server does: in the order of fit, and beyond 1 for the best."""
    asked = json.loads(request.content)
    words = set(asked["query"].lower().split())
    shares = [len(words & set(d.lower().split())) / 6 for d in asked["documents"]]
    results = [{"index": n, "relevance_score": s} for n, s in enumerate(shares)]
    ordered = sorted(results, key=lambda r: -r["relevance_score"])
    return httpx2.Response(200, json={"results": ordered[: asked["top_n"]]})


class TestCrossEncoder(RerankerContract):
    def make_reranker(self) -> RerankerPort:
        return reranker(by_shared_words)


async def test_the_key_goes_with_every_call_to_the_one_address() -> None:
    seen: list[httpx2.Request] = []

    def noted(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return by_shared_words(request)

    ok(await reranker(noted, "secret").rank(QUESTION, passages([ANSWER])))

    [request] = seen
    assert str(request.url) == "http://rerank/v1/rerank"
    assert request.headers["Authorization"] == "Bearer secret"
    assert json.loads(request.content)["model"] == "m"


async def test_half_a_character_and_an_empty_text_are_sent_as_something() -> None:
    found = await reranker(by_shared_words).rank("\ud800", passages(["", "\udfff"]))

    assert len(ok(found)) == 2


RESULT = {"index": 0, "relevance_score": 0.5}


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(500),
        httpx2.Response(307, headers={"Location": "http://elsewhere/"}),
        httpx2.Response(200, text="<html>"),
        httpx2.Response(200, json=[]),
        httpx2.Response(200, json={}),
        httpx2.Response(200, json={"results": [RESULT]}),
        httpx2.Response(200, json={"results": [RESULT, RESULT]}),
        httpx2.Response(200, json={"results": [RESULT, {"index": 2, "relevance_score": 0.1}]}),
        httpx2.Response(200, json={"results": [RESULT, {"index": 1, "relevance_score": None}]}),
        httpx2.Response(200, json={"results": [RESULT, {"index": 1}]}),
        httpx2.Response(200, text='{"results": [{"index": 0, "relevance_score": NaN}]}'),
        httpx2.Response(200, content=b" " * (MAX_BYTES + 1)),
    ],
)
async def test_what_does_not_judge_every_passage_once_is_no_answer(answer: httpx2.Response) -> None:
    found = await reranker(lambda _: answer).rank(QUESTION, passages([ANSWER, OTHER]))

    err(found, UpstreamError)


async def test_nobody_there_is_an_error_and_never_an_empty_ranking() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    err(await reranker(refuse).rank(QUESTION, passages([ANSWER])), UpstreamError)
