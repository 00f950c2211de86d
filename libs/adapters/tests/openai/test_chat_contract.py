"""Chat completions over the provider double."""

from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_testing.contracts.provided_failures import ProvidedFailuresContract
from cogni_testing.contracts.provided_model import (
    Provided,
    ProvidedAnswersContract,
    ServedModelContract,
)
from cogni_testing.providers import ProviderDouble


class _Chat(Provided):
    def connect(self, double: ProviderDouble, silence_s: float) -> OpenAIChatAdapter:
        return OpenAIChatAdapter("gpt-4.1-2025-04-14", "key", double.base_url, silence_s)


class TestChat(_Chat, ServedModelContract): ...


class TestChatAnswers(_Chat, ProvidedAnswersContract): ...


class TestChatFailures(_Chat, ProvidedFailuresContract): ...
