"""The double in chat completions, seen by the vendor's own client."""

from collections.abc import AsyncIterator

import openai
import pytest
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessage,
    ChatCompletionMessageFunctionToolCall,
)

from cogni_testing.providers import (
    ProviderDouble,
    ScriptedCall,
    Turn,
)

BOTH = Turn(
    ("One ", "moment, 休暇."),
    (ScriptedCall("look_up", ('{"n', '": 1}')), ScriptedCall("draw", ("{}",), "mine")),
)


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    async with ProviderDouble([BOTH]) as found:
        yield found


@pytest.fixture
async def client(double: ProviderDouble) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="k", base_url=double.base_url, max_retries=0) as found:
        yield found


async def streamed(client: openai.AsyncOpenAI) -> object:
    """Return what the client's own typed stream makes of an answer."""
    async with client.chat.completions.stream(
        model="m", messages=[{"role": "user", "content": "?"}]
    ) as stream:
        return await stream.get_final_completion()


def function_calls(message: ChatCompletionMessage) -> list[ChatCompletionMessageFunctionToolCall]:
    return [c for c in message.tool_calls or () if c.type == "function"]


async def test_the_client_reads_a_stream_as_it_was_scripted(
    double: ProviderDouble, client: openai.AsyncOpenAI
) -> None:
    found = await streamed(client)

    assert isinstance(found, ChatCompletion)
    message = found.choices[0].message
    assert message.content == "One moment, 休暇."
    assert [(c.id, c.function.name, c.function.arguments) for c in function_calls(message)] == [
        ("call_1", "look_up", '{"n": 1}'),
        ("mine", "draw", "{}"),
    ]
    assert found.choices[0].finish_reason == "tool_calls"
    [request] = double.requests
    assert request.headers["authorization"] == "Bearer k"
    assert request.body["stream"] is True
    assert request.answered_at is not None
    assert request.gone_at is None
