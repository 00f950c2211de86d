"""Every vendor's adapter, over a provider that a test scripts."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from cogni_adapters.anthropic.messages import AnthropicAdapter
from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_adapters.openai.responses import OpenAIResponsesAdapter
from cogni_engine import Emitter, Response
from cogni_kernel import Result
from cogni_testing.contracts.model import PASSAGE, QUESTION, asked
from cogni_testing.providers import ProviderDouble, Turn

Adapter: TypeAlias = OpenAIChatAdapter | OpenAIResponsesAdapter | AnthropicAdapter
Vendor: TypeAlias = Callable[[ProviderDouble, float], Adapter]


def _chat(double: ProviderDouble, silence_s: float) -> Adapter:
    return OpenAIChatAdapter("gpt-4.1-2025-04-14", "key", double.base_url, silence_s=silence_s)


def _responses(double: ProviderDouble, silence_s: float) -> Adapter:
    return OpenAIResponsesAdapter("gpt-4.1-2025-04-14", "key", double.base_url, silence_s=silence_s)


def _messages(double: ProviderDouble, silence_s: float) -> Adapter:
    return AnthropicAdapter("claude-sonnet-4-6", "key", double.anthropic_url, silence_s=silence_s)


@pytest.fixture(params=[_chat, _responses, _messages], ids=["chat", "responses", "messages"])
def vendor(request: pytest.FixtureRequest) -> Vendor:
    found: Vendor = request.param
    return found


@dataclass
class Asked:
    """One question to one provider: what came of it, and what was streamed meanwhile."""

    result: Result[Response]
    streamed: str
    double: ProviderDouble
    model: Adapter


Ask: TypeAlias = Callable[[Turn], Awaitable[Asked]]


@pytest.fixture
async def ask(vendor: Vendor) -> AsyncIterator[Ask]:
    """Ask a provider that answers with one turn, again and again."""
    async with AsyncExitStack() as stack:

        async def asking(turn: Turn) -> Asked:
            double = await stack.enter_async_context(ProviderDouble([turn]))
            model = vendor(double, 5.0)
            stack.push_async_callback(model.close)
            emitter = Emitter(lambda _: None)
            result = await model.complete(asked(QUESTION, PASSAGE), (), emitter)
            return Asked(result, emitter.text, double, model)

        yield asking
