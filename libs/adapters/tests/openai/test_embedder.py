"""Embeddings of OpenAI, over real HTTP."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from cogni_adapters.openai.embedder import (
    MOST_BYTES,
    MOST_TEXT_BYTES,
    MOST_TEXTS,
    OpenAIEmbedderAdapter,
)
from cogni_engine import RetryPolicy
from cogni_kernel import DefinitionError, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.embedder import EmbedderContract
from cogni_testing.providers import Document, HangUp, ProviderDouble, Script, Status, Turn

MODEL = "text-embedding-3-small"


async def at_once(seconds: float) -> None:
    """Wait for nothing."""


AT_ONCE = RetryPolicy(sleep=at_once)


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    async with ProviderDouble([Turn()]) as found:
        yield found


@pytest.fixture
async def embedder(double: ProviderDouble) -> AsyncIterator[OpenAIEmbedderAdapter]:
    found = OpenAIEmbedderAdapter(MODEL, "key", double.base_url, dimension=512, retry=AT_ONCE)
    yield found
    await found.close()


class TestOpenAIEmbedder(EmbedderContract):
    @pytest.fixture(autouse=True)
    async def _bound(self, embedder: OpenAIEmbedderAdapter) -> None:
        self.embedder = embedder

    def make_embedder(self) -> OpenAIEmbedderAdapter:
        return self.embedder


def test_the_dimension_is_the_models_own_unless_it_is_said() -> None:
    assert OpenAIEmbedderAdapter(MODEL, "key").dimension == 1536
    assert OpenAIEmbedderAdapter(MODEL, "key", dimension=256).dimension == 256
    assert OpenAIEmbedderAdapter("bge-m3", "key", "http://x/v1", dimension=1024).dimension == 1024


@pytest.mark.parametrize("model", ["bge-m3", "", "nomic-embed-text:latest"])
def test_a_model_that_says_too_little_is_refused(model: str) -> None:
    with pytest.raises(DefinitionError):
        OpenAIEmbedderAdapter(model, "key")


def test_two_dimensions_are_two_versions() -> None:
    versions = {OpenAIEmbedderAdapter(MODEL, "key", dimension=d).version for d in (256, 512)}

    assert len(versions) == 2
    assert all(MODEL in version for version in versions)


async def test_many_texts_go_out_in_batches(
    double: ProviderDouble, embedder: OpenAIEmbedderAdapter
) -> None:
    texts = [f"text {n}" for n in range(MOST_TEXTS + 1)]

    vectors = ok(await embedder.embed(texts))

    sent = [request.body["input"] for request in double.requests]
    assert [text for batch in sent for text in batch] == texts
    assert [len(batch) for batch in sent] == [MOST_TEXTS, 1]
    assert vectors.shape == (MOST_TEXTS + 1, 512)


async def test_a_batch_holds_no_more_than_the_provider_reads(
    double: ProviderDouble, embedder: OpenAIEmbedderAdapter
) -> None:
    ok(await embedder.embed(["休" * 10_000] * 40))

    batches = [request.body["input"] for request in double.requests]
    assert len(batches) > 1
    assert all(sum(len(text.encode()) for text in batch) <= MOST_BYTES for batch in batches)
    assert all(len(text.encode()) <= MOST_TEXT_BYTES for batch in batches for text in batch)
    assert {text.strip("休") for batch in batches for text in batch} == {""}


@pytest.mark.parametrize("text", ["", "  ", "\u2028", "\ud83d"])
async def test_nothing_that_the_provider_refuses_is_sent(
    double: ProviderDouble, embedder: OpenAIEmbedderAdapter, text: str
) -> None:
    ok(await embedder.embed([text]))

    [sent] = double.requests[0].body["input"]
    assert sent.strip()


async def test_a_model_is_asked_for_another_length_than_its_own_alone(
    double: ProviderDouble,
) -> None:
    own = OpenAIEmbedderAdapter("text-embedding-ada-002", "key", double.base_url)
    error = err(await own.embed(["one"]), UpstreamError)
    await own.close()

    assert "dimensions" not in double.requests[0].body
    assert not error.retryable
    assert error.detail["dimensions"] == [512]


@pytest.mark.parametrize(
    "faults", [(Status(500),), (Status(429, {"retry-after": "1"}),), (HangUp(),)]
)
async def test_a_failure_that_passes_is_waited_out(faults: tuple[HangUp | Status, ...]) -> None:
    turns = Script([Turn(faults=faults), Turn(faults=faults), Turn()])
    async with ProviderDouble(turns) as double:
        embedder = OpenAIEmbedderAdapter(MODEL, "key", double.base_url, dimension=64, retry=AT_ONCE)
        vectors = ok(await embedder.embed(["one"]))
        await embedder.close()

    assert vectors.shape == (1, 64)
    assert len(double.requests) == 3


@pytest.mark.parametrize(("status", "requests"), [(400, 1), (401, 1), (503, 3)])
async def test_a_failure_that_stays_is_told(status: int, requests: int) -> None:
    async with ProviderDouble([Turn(faults=(Status(status, message="your text"),))]) as double:
        embedder = OpenAIEmbedderAdapter(MODEL, "key", double.base_url, retry=AT_ONCE)
        error = err(await embedder.embed(["one"]), UpstreamError)
        await embedder.close()

    assert error.detail["status"] == status
    assert "your text" not in repr(error)
    assert len(double.requests) == requests


async def test_numbers_are_read_where_a_server_packs_nothing(double: ProviderDouble) -> None:
    data = b'{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}'
    double.script = Script((Turn(faults=(Document(data),)),))
    embedder = OpenAIEmbedderAdapter("bge", "key", double.base_url, dimension=2, retry=AT_ONCE)

    vectors = ok(await embedder.embed(["one", "two"]))
    await embedder.close()

    assert np.allclose(vectors, np.array([[0.6, 0.8], [0, 1]], np.float32))


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{not json",
        b'{"data": null}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": {}}]}',
        b'{"data": [{"index": 0, "embedding": "*"}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}]}',
        b'{"data": []}',
    ],
)
async def test_an_answer_that_is_none_is_a_failure(double: ProviderDouble, data: bytes) -> None:
    double.script = Script((Turn(faults=(Document(data),)),))
    embedder = OpenAIEmbedderAdapter("bge", "key", double.base_url, dimension=2, retry=AT_ONCE)

    result = await embedder.embed(["one"])
    await embedder.close()

    err(result, UpstreamError)
