"""Anthropic's messages, streamed: the vendor's client carries the bytes, our parser reads them."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import anthropic
import httpx2

from cogni_adapters.anthropic.events import MessagesEvents
from cogni_adapters.anthropic.failures import described
from cogni_adapters.anthropic.wire import to_body
from cogni_domain.ports.model import ModelPort
from cogni_domain.providers.health import RecentCalls
from cogni_domain.providers.pinning import pinned
from cogni_domain.providers.reading import read_answer
from cogni_domain.providers.translating import TranslatingParser
from cogni_engine import Definition, Emitter, HealthState, Message, Response
from cogni_kernel import Err, Result, TaskClass

HOME = "https://api.anthropic.com"
CONNECT_S = 10.0
SILENCE_S = 60.0
"""Between two pieces of an answer; the whole of it is bounded by the run."""

MAX_TOKENS = 8_192
"""The longest answer that is asked for: this provider wants to be told, and every model of it writes as much."""


class AnthropicAdapter(ModelPort):
    """One pinned model of Anthropic.

    The client's own retries are off: what is worth another call is decided above, in one place.

    Args:
        model: Its name, which can mean one model only.
        api_key: Of Anthropic.
        base_url: Where the server is, without `/v1`; None for Anthropic itself, whatever the process's
            environment says.
        silence_s: The longest wait for the next piece of an answer.
        max_tokens: The longest answer.

    Raises:
        DefinitionError: The model is missing or its name is a floating alias.

    Source:
        COGNI.BUILD spec, package engine, "AnthropicAdapter".
    """

    def __init__(
        self,
        model: str,
        api_key: str,
        base_url: str | None = None,
        *,
        silence_s: float = SILENCE_S,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self._model = pinned(model)
        self._max_tokens = max_tokens
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url or HOME,
            max_retries=0,
            timeout=httpx2.Timeout(silence_s, connect=min(CONNECT_S, silence_s)),
        )
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
        body = to_body(self._model, messages, tools, self._max_tokens)
        result: Result[Response]
        try:
            async with self._request(body) as answer:
                result = await read_answer(
                    answer, TranslatingParser(MessagesEvents()), emitter, self._model
                )
        except (anthropic.AnthropicError, httpx2.HTTPError) as failure:
            result = Err(described(failure))
        self._calls.note(went_well=not isinstance(result, Err))
        return result

    def _request(self, body: dict[str, object]) -> AbstractAsyncContextManager[Any]:
        """Send a request as it is: the client would walk through every old message of it."""
        messages = self._client.messages.with_streaming_response
        return messages.create(
            max_tokens=self._max_tokens,
            messages=[],
            model=self._model,
            stream=True,
            extra_body=body,
        )
