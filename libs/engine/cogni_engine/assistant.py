"""One conversation against one model, with the tools that were composed for it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from cogni_engine.channel.issuing import Issuing
from cogni_engine.channel.marker import Marker
from cogni_engine.channel.renderables import ReportPayload, Section
from cogni_engine.estimate import Correction
from cogni_engine.guard import detail_of, guarded
from cogni_engine.messages import Message
from cogni_engine.model import Model, Response
from cogni_engine.steps import EngineStep, ModelCallStep
from cogni_engine.streaming.emitter import Emitter
from cogni_engine.thread import Thread
from cogni_engine.tool.base import Base, InvocationContext, Publisher
from cogni_engine.tool.echo import MAX_MODEL_CHARACTERS, bound_for_model
from cogni_engine.tool.registry import Registry
from cogni_engine.tool.result import ToolResult
from cogni_kernel import (
    Err,
    Error,
    HumanText,
    ModelFacingText,
    Ok,
    Result,
    TokenCount,
    Usage,
    encodable,
    estimate_tokens,
)

BROKE = HumanText("The assistant could not answer. You can ask again.")


class Assistant:
    """The reusable core. Knows nothing of tenants, permissions, profiles or surfaces.

    Source:
        COGNI.BUILD spec, package engine, "Assistant".
    """

    def __init__(  # noqa: PLR0913 - its collaborators, each visible
        self,
        *,
        model: Model,
        context: InvocationContext,
        thread: Thread | None = None,
        tools: Registry | None = None,
        channel: Publisher | None = None,
        emitter: Emitter | None = None,
        on_step: Callable[[EngineStep], None] | None = None,
    ) -> None:
        self.model = model
        self.thread = thread or Thread()
        self.tools = tools or Registry.empty()
        self.emitter = emitter or Emitter(lambda _: None)
        self.usage = Usage.zero()
        self.holds_evidence = False
        self.retrieved_urls: frozenset[str] = frozenset()
        self._context = context
        self._channel = channel
        self._on_step = on_step or (lambda _: None)
        self._correction = Correction()

    def add(self, message: Message) -> None:
        """Append to the thread."""
        self.thread = self.thread.add(message)

    def fit(self, limit: TokenCount) -> TokenCount:
        """Trim the thread so that a call stays within `limit` tokens, as far as it may be; return what one takes.

        Tokens are estimated, and corrected by what the provider counted in the last call.
        """
        room = self._correction.within(limit) - self._tools_tokens
        self.thread = self.thread.trim_to(TokenCount(max(0, room)))
        return self._correction.corrected(self._estimate())

    def _estimate(self) -> TokenCount:
        return TokenCount(self.thread.token_estimate() + self._tools_tokens)

    @cached_property
    def _tools_tokens(self) -> TokenCount:
        """What the descriptions take; a vocabulary is an author's code, and breaks where the model is asked."""
        try:
            told = [d.to_wire() for d in self.tools.definitions()]
        except Exception:
            return TokenCount(0)
        return TokenCount(estimate_tokens(json.dumps(told, ensure_ascii=False)) if told else 0)

    async def complete(self) -> Result[Response]:
        """Call the model once; the call is recorded and its usage added up, whatever becomes of it.

        Text that was not emitted while it came is emitted here: it is shown once either way.
        """
        shown = len(self.emitter.text)
        try:
            given = await guarded(self._ask, BROKE)
        except asyncio.CancelledError:
            self._account(None, error="Cancelled")
            raise
        if isinstance(given, Error):
            self._account(None, error=given.code, detail=detail_of(given))
            return Err(given)
        self._account(given)
        if len(self.emitter.text) == shown:
            self.emitter.emit_token(given.text)
        return Ok(given)

    async def _ask(self) -> Response | Error:
        result = await self.model.complete(
            self.thread.messages, self.tools.definitions(), self.emitter
        )
        if isinstance(result, Err):
            return result.error
        return replace(result.value, text=encodable(result.value.text))

    def _account(self, given: Response | None, error: str | None = None, detail: str = "") -> None:
        usage = Usage.from_provider(given.raw_usage if given else None, self.model.task_class)
        self.usage += usage
        self._correction = self._correction.learnt(estimated=self._estimate(), counted=usage.input)
        calls = len(given.tool_calls) if given else 0
        version = encodable(given.model_used) if given else ""
        self.record(ModelCallStep(version or self.model.model_version, usage, calls, error, detail))

    def build(self, tool: type[Base], channel: Publisher | None = None) -> Base:
        """Return the tool, given all that it may touch; its channel may be one that stands before the run's."""
        return tool(self._context, channel or self._channel)

    def issuing(self) -> Issuing | None:
        """Return a channel for one call, which remembers what the call showed; None without a channel."""
        return Issuing(self._channel) if self._channel is not None else None

    async def keep_whole(self, tool: str, text: ModelFacingText) -> Marker | None:
        """Keep a result that is too long for the model; None where it is not, or cannot be kept."""
        if self._channel is None or len(str(text)) <= MAX_MODEL_CHARACTERS:
            return None
        channel = self._channel
        whole = ReportPayload(tool, (Section("", encodable(str(text))),))
        kept = await guarded(lambda: channel.keep(whole), BROKE)
        return None if isinstance(kept, Error) else kept

    def submit(self, call_id: str, output: ModelFacingText, kept: Marker | None = None) -> None:
        """Answer one call id, bounded at this one place; the whole of what was cut is `kept`."""
        self.add(Message.tool(bound_for_model(output, kept), call_id))

    def note_evidence(self, result: ToolResult) -> None:
        """Remember that a tool returned something, and the URLs in it."""
        self.holds_evidence |= not result.is_empty
        self.retrieved_urls |= frozenset(result.urls)

    def record(self, step: EngineStep) -> None:
        """Tell the run record."""
        self._on_step(step)
