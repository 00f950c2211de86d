"""The contract of models against providers themselves: `make test-live`, with a key in the environment.

`COGNI_MODEL` names another model than the small ones below, at the provider whose name it has.
"""

import os
from abc import abstractmethod
from collections.abc import AsyncIterator
from typing import TypeAlias

import pytest

from cogni_adapters.anthropic.messages import AnthropicAdapter
from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_adapters.openai.responses import OpenAIResponsesAdapter
from cogni_testing.contracts.model import ModelContract

Adapter: TypeAlias = OpenAIChatAdapter | OpenAIResponsesAdapter | AnthropicAdapter

OPENAI_MODEL = "gpt-4.1-mini-2025-04-14"
ANTHROPIC_MODEL = "claude-haiku-4-5-20251001"


def setting(name: str) -> str:
    """Return a value of the environment, or skip saying what is missing."""
    if os.environ.get("COGNI_LIVE") != "1":
        pytest.skip("asks a provider, which costs: `make test-live` does")
    return os.environ.get(name) or pytest.skip(f"{name} is not set")


def model_named(usual: str, *, is_claude: bool) -> str:
    named = os.environ.get("COGNI_MODEL", "")
    return named if named and named.startswith("claude") is is_claude else usual


class _Live(ModelContract):
    @abstractmethod
    def make_adapter(self) -> Adapter: ...

    @pytest.fixture(autouse=True)
    async def _connected(self) -> AsyncIterator[None]:
        self._adapter = self.make_adapter()
        yield
        await self._adapter.close()

    def make_model(self) -> Adapter:
        return self._adapter


class TestLiveChat(_Live):
    def make_adapter(self) -> OpenAIChatAdapter:
        key = setting("OPENAI_API_KEY")
        model = model_named(OPENAI_MODEL, is_claude=False)
        return OpenAIChatAdapter(model, key, os.environ.get("OPENAI_BASE_URL") or None)


class TestLiveResponses(_Live):
    def make_adapter(self) -> OpenAIResponsesAdapter:
        key = setting("OPENAI_API_KEY")
        if os.environ.get("OPENAI_BASE_URL"):
            pytest.skip("OPENAI_BASE_URL names a server that speaks chat completions")
        return OpenAIResponsesAdapter(model_named(OPENAI_MODEL, is_claude=False), key)


class TestLiveAnthropic(_Live):
    def make_adapter(self) -> AnthropicAdapter:
        key = setting("ANTHROPIC_API_KEY")
        model = model_named(ANTHROPIC_MODEL, is_claude=True)
        return AnthropicAdapter(model, key, os.environ.get("ANTHROPIC_BASE_URL") or None)
