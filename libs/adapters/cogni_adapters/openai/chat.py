"""Chat completions, streamed: the vendor's client carries the bytes, our parser reads them."""

from collections.abc import Sequence

import httpx2
import openai

from cogni_adapters.openai.client import SILENCE_S, connect, streamed
from cogni_adapters.openai.failures import described
from cogni_adapters.openai.wire import to_body
from cogni_domain.ports.model import ModelPort
from cogni_domain.providers.health import RecentCalls
from cogni_domain.providers.pinning import pinned
from cogni_domain.providers.reading import read_answer
from cogni_engine import (
    ChunkParser,
    Definition,
    Emitter,
    HealthState,
    Message,
    Response,
)
from cogni_kernel import Err, Result, TaskClass

_REFUSES_OPTIONS = frozenset({400, 422})


class OpenAIChatAdapter(ModelPort):
    """One pinned model of OpenAI, or of any server that speaks chat completions.

    Args:
        model: Its name, which can mean one model only.
        api_key: As the server wants it; a server that wants none takes any.
        base_url: Where the server is, `http://127.0.0.1:8000/v1`; None for OpenAI itself.
        silence_s: The longest wait for the next piece of an answer.

    Raises:
        DefinitionError: The model is missing or its name is a floating alias.
    """

    def __init__(
        self, model: str, api_key: str, base_url: str | None = None, silence_s: float = SILENCE_S
    ) -> None:
        self._model = pinned(model)
        self._client = connect(api_key, base_url, silence_s)
        self._calls = RecentCalls()
        self._asks_usage = True

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
        result = await self._complete(messages, tools, emitter)
        self._calls.note(went_well=not isinstance(result, Err))
        return result

    async def _complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        body = to_body(self._model, messages, tools, asks_usage=self._asks_usage)
        try:
            return await self._stream(body, emitter)
        except openai.APIStatusError as refusal:
            if not (self._asks_usage and _is_about_options(refusal)):
                return Err(described(refusal))
        except (openai.OpenAIError, httpx2.HTTPError) as failure:
            return Err(described(failure))
        self._asks_usage = False
        return await self._complete(messages, tools, emitter)

    async def _stream(self, body: dict[str, object], emitter: Emitter | None) -> Result[Response]:
        async with streamed(self._client, "/chat/completions", body) as answer:
            return await read_answer(answer, ChunkParser(), emitter, self._model)


def _is_about_options(refusal: openai.APIStatusError) -> bool:
    """Tell whether a server refuses to be asked for usage: older ones do not know the option."""
    return refusal.status_code in _REFUSES_OPTIONS and "stream_options" in refusal.response.text
