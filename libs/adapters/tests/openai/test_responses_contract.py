"""OpenAI's responses over the provider double."""

from cogni_adapters.openai.responses import OpenAIResponsesAdapter
from cogni_testing.contracts.provided_failures import ProvidedFailuresContract
from cogni_testing.contracts.provided_model import (
    Provided,
    ProvidedAnswersContract,
    ServedModelContract,
)
from cogni_testing.providers import ProviderDouble


class _Responses(Provided):
    def connect(self, double: ProviderDouble, silence_s: float) -> OpenAIResponsesAdapter:
        return OpenAIResponsesAdapter("gpt-4.1-2025-04-14", "key", double.base_url, silence_s)


class TestResponses(_Responses, ServedModelContract): ...


class TestResponsesAnswers(_Responses, ProvidedAnswersContract): ...


class TestResponsesFailures(_Responses, ProvidedFailuresContract): ...
