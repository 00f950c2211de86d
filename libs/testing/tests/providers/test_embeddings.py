"""Vectors and models of the double, seen by the vendors' own clients."""

import anthropic
import numpy as np
import openai
import pytest

from cogni_testing import HashEmbedder, ok
from cogni_testing.providers import ProviderDouble, Status, Turn, says

TEXTS = ["parental leave", "travel costs"]


@pytest.mark.parametrize("packing", ["float", "base64"])
async def test_vectors_are_the_same_however_they_are_packed(packing: str) -> None:
    expected = ok(await HashEmbedder(64).embed(TEXTS))
    async with (
        ProviderDouble([Turn(usage=(4, 0))]) as double,
        openai.AsyncOpenAI(api_key="k", base_url=double.base_url) as client,
    ):
        if packing == "float":
            found = await client.embeddings.create(
                model="m", input=TEXTS, dimensions=64, encoding_format="float"
            )
        else:
            found = await client.embeddings.create(model="m", input=TEXTS, dimensions=64)

    assert np.allclose([row.embedding for row in found.data], expected)
    assert found.usage.prompt_tokens == 4


async def test_an_embedding_takes_the_faults_of_its_turn() -> None:
    turn = Turn(faults=(Status(429, {"retry-after": "3"}),))
    async with (
        ProviderDouble([turn]) as double,
        openai.AsyncOpenAI(api_key="k", base_url=double.base_url, max_retries=0) as client,
    ):
        with pytest.raises(openai.RateLimitError):
            await client.embeddings.create(model="m", input="one")


async def test_both_clients_list_the_models_that_answer() -> None:
    async with (
        ProviderDouble([says("one"), Turn(model="served-2")]) as double,
        openai.AsyncOpenAI(api_key="k", base_url=double.base_url) as one,
        anthropic.AsyncAnthropic(api_key="k", base_url=double.anthropic_url) as other,
    ):
        names = [
            [m.id async for m in client] for client in (one.models.list(), other.models.list())
        ]

    assert names == [["served-1", "served-2"]] * 2
