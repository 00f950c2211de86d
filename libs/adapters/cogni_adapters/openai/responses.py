"""OpenAI's responses, streamed: the vendor's client carries the bytes, our parser reads them."""

from collections.abc import Sequence

import httpx2
import openai

from cogni_adapters.openai.client import SILENCE_S, connect, streamed
from cogni_adapters.openai.failures import described
from cogni_adapters.openai.responses_events import ResponsesEvents
from cogni_adapters.openai.responses_wire import to_body
from cogni_domain.ports.model import ModelPort
from cogni_domain.providers.health import RecentCalls
from cogni_domain.providers.pinning import pinned
from cogni_domain.providers.reading import read_answer
from cogni_domain.providers.translating import TranslatingParser
from cogni_engine import Definition, Emitter, HealthState, Message, Response
from cogni_kernel import Err, Result, TaskClass


class OpenAIResponsesAdapter(ModelPort):
    """One pinned model of OpenAI, asked through its responses.

    Args:
        model: Its name, which can mean one model only.
        api_key: Of OpenAI.
        base_url: Where the server is, `http://127.0.0.1:8000/v1`; None for OpenAI itself.
        silence_s: The longest wait for the next piece of an answer.

    Raises:
        DefinitionError: The model is missing or its name is a floating alias.

    Source:
        COGNI.BUILD spec, package engine, "OpenAIResponsesAdapter".
    """

    def __init__(
        self, model: str, api_key: str, base_url: str | None = None, silence_s: float = SILENCE_S
    ) -> None:
        self._model = pinned(model)
        self._client = connect(api_key, base_url, silence_s)
        self._calls = RecentCalls()

    @property
    def model_version(self) -> str:
        return self._model

    @property
    def task_class(self) -> TaskClass:
        return TaskClass.CONVERSATIONAL

    def health(self) -> HealthState:
        return self._calls.health()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        body = to_body(self._model, messages, tools)
        result: Result[Response]
        try:
            async with streamed(self._client, "/responses", body) as answer:
                result = await read_answer(
                    answer, TranslatingParser(ResponsesEvents()), emitter, self._model
                )
        except (openai.OpenAIError, httpx2.HTTPError) as failure:
            result = Err(described(failure))
        self._calls.note(went_well=not isinstance(result, Err))
        return result
