"""Anthropic's messages over the provider double."""

from cogni_adapters.anthropic.messages import AnthropicAdapter
from cogni_testing.contracts.provided_failures import ProvidedFailuresContract
from cogni_testing.contracts.provided_model import (
    Provided,
    ProvidedAnswersContract,
    ServedModelContract,
)
from cogni_testing.providers import ProviderDouble


class _Messages(Provided):
    def connect(self, double: ProviderDouble, silence_s: float) -> AnthropicAdapter:
        return AnthropicAdapter(
            "claude-sonnet-4-6", "key", double.anthropic_url, silence_s=silence_s
        )


class TestMessages(_Messages, ServedModelContract): ...


class TestMessagesAnswers(_Messages, ProvidedAnswersContract): ...


class TestMessagesFailures(_Messages, ProvidedFailuresContract): ...
