"""Model ⇄ tools, until there is an answer. Instructions are advisory; this is not."""

import asyncio
from dataclasses import replace
from datetime import datetime

from cogni_engine.assistant import Assistant
from cogni_engine.bounds import Clock, HaltReason, RunBounds, RunState
from cogni_engine.calls import Call, answer_calls, with_distinct_ids
from cogni_engine.messages import Message, ToolCall
from cogni_engine.model import Response, ResponseKind
from cogni_engine.outcome import (
    Completed,
    Failed,
    Halted,
    Proposed,
    RefusalReason,
    Refused,
    RunOutcome,
)
from cogni_engine.retry import RetryPolicy
from cogni_kernel import BudgetExceededError, Err, HumanText, Ok, Result, encodable

NOT_OFFERED = HumanText(
    "I can't do that with the tools you have here. Try asking for it in other words."
)
PROVIDER_DOWN = HumanText("The assistant can't be reached right now. Please try again in a minute.")


class RunLoop:
    """Drives one assistant within bounds.

    Source:
        COGNI.BUILD spec, package engine, "RunLoop"; DESIGN, rulings.
    """

    def __init__(
        self,
        assistant: Assistant,
        bounds: RunBounds,
        clock: Clock,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._assistant = assistant
        self._bounds = bounds
        self._clock = clock
        self._retry = retry or RetryPolicy()
        self._started: datetime
        self._tool_calls = 0
        self._offences = 0

    async def execute(self) -> RunOutcome:
        """Run to a terminal state. Cancelling it cancels the model or tool under way."""
        self._started = self._clock.now()
        try:
            async with asyncio.timeout(self._left_s()) as wall_clock:
                return await self._turns()
        except TimeoutError:
            if not wall_clock.expired():
                raise
            return self._halted(HaltReason.DEADLINE)

    async def _turns(self) -> RunOutcome:
        while (reason := self._check(self._tool_calls)) is None:
            result = await self._complete()
            if isinstance(result, Err):
                return self._broken(result)
            response = result.value
            if response.kind is ResponseKind.ANSWER:
                return Completed(response.text)
            if (ended := await self._answer(response)) is not None:
                return ended
        if reason is HaltReason.CALL_CEILING and self._check(0) is None:
            await self._last_words()
        return self._halted(reason)

    async def _last_words(self) -> None:
        """Let the model say what it found before the ceiling; what it asks for now is not run."""
        result = await self._complete()
        if isinstance(result, Ok) and result.value.kind is ResponseKind.TOOL_CALLS:
            await self._answer(result.value)

    async def _answer(self, response: Response) -> RunOutcome | None:
        """Answer every call id of one response; return how the run ends, if it does."""
        taken = {c.id for m in self._assistant.thread.messages for c in m.tool_calls}
        asked = with_distinct_ids(response.tool_calls, taken)
        written = tuple(replace(call, arguments=encodable(call.arguments)) for call in asked)
        self._assistant.add(Message.assistant(response.text, written, response.model_used))
        answers = await answer_calls(self._assistant, [self._admit(call) for call in asked])
        self._offences += any(a.not_offered for a in answers)
        for answer in answers:
            if answer.mutation is not None:
                return Proposed(answer.mutation, response.text)
        if self._offences > 1:
            return Refused(RefusalReason.NOT_OFFERED, NOT_OFFERED)
        return None

    def _admit(self, call: ToolCall) -> Call:
        """Count a call before it is looked at; beyond the ceiling, or late, it is not run."""
        self._tool_calls += 1
        return Call(call, within_bounds=self._check(self._tool_calls) is None)

    def _check(self, tool_calls: int) -> HaltReason | None:
        """Make the thread fit; return why the run must halt after so many tool calls, or None."""
        context = self._assistant.fit(self._bounds.max_context)
        now = self._clock.now()
        return self._bounds.check(RunState(tool_calls, context, now, now - self._started))

    def _left_s(self) -> float:
        now = self._clock.now()
        return self._bounds.remaining(now, now - self._started).total_seconds()

    async def _complete(self) -> Result[Response]:
        """Call the model, again after a failure that showed nothing and is worth the time left."""
        attempt = 1
        self._retry.budget.note_call()
        while True:
            shown = self._assistant.emitter.shown
            result = await self._assistant.complete()
            if not isinstance(result, Err) or self._assistant.emitter.shown > shown:
                return result
            wait_s = self._retry.wait_s(attempt, result.error)
            if wait_s is None or wait_s >= self._left_s() or not self._retry.budget.take():
                return result
            await self._retry.sleep(wait_s)
            attempt += 1

    def _broken(self, failure: Err) -> RunOutcome:
        error, partial = failure.error, self._assistant.emitter.text
        if isinstance(error, BudgetExceededError):
            return Refused(RefusalReason.BUDGET_EXCEEDED, error.message)
        if error.retryable and not partial:
            return Refused(RefusalReason.PROVIDER_DOWN, PROVIDER_DOWN)
        return Failed(error, partial)

    def _halted(self, reason: HaltReason) -> Halted:
        return Halted(reason, self._assistant.emitter.text)
