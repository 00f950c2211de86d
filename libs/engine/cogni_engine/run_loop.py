"""Model ⇄ tools, until there is an answer. Instructions are advisory; this is not."""

import asyncio

from cogni_engine.assistant import Assistant
from cogni_engine.bounds import Clock, HaltReason, RunBounds, RunState
from cogni_engine.calls import Call, answer_calls
from cogni_engine.messages import Message, ToolCall
from cogni_engine.model import Response, ResponseKind
from cogni_engine.outcome import (
    Completed,
    Failed,
    Halted,
    Mutation,
    Proposed,
    RefusalReason,
    Refused,
    RunOutcome,
)
from cogni_engine.retry import RetryPolicy
from cogni_kernel import Err, HumanText, Result, UpstreamError

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
        self._tool_calls = 0
        self._offences = 0

    async def execute(self) -> RunOutcome:
        """Run to a terminal state. Cancelling it cancels the model or tool under way."""
        left = self._bounds.remaining(self._clock.now()).total_seconds()
        try:
            async with asyncio.timeout(left) as wall_clock:
                return await self._turns()
        except TimeoutError:
            if not wall_clock.expired():
                raise
            return self._halted(HaltReason.DEADLINE)

    async def _turns(self) -> RunOutcome:
        while True:
            if (reason := self._must_halt()) is not None:
                return self._halted(reason)
            result = await self._complete()
            if isinstance(result, Err):
                return self._broken(result)
            response = result.value
            if response.kind is ResponseKind.ANSWER:
                return Completed(response.text)
            self._assistant.add(
                Message.assistant(response.text, response.tool_calls, response.model_used)
            )
            if (ended := await self._answer(response)) is not None:
                return ended

    async def _answer(self, response: Response) -> RunOutcome | None:
        """Answer every call id of one response; return how the run ends, if it does."""
        calls = [self._admit(call) for call in response.tool_calls]
        answers = await answer_calls(self._assistant, calls)
        self._offences += any(a.not_offered for a in answers)
        mutations = [a.mutation for a in answers if a.mutation is not None]
        if mutations:
            return self._proposed(mutations[0], response)
        if self._offences > 1:
            return Refused(RefusalReason.NOT_OFFERED, NOT_OFFERED)
        return None

    def _admit(self, call: ToolCall) -> Call:
        """Count a call before it is looked at; beyond the ceiling, or late, it is not run."""
        self._tool_calls += 1
        return Call(call, within_bounds=self._check() is None)

    def _must_halt(self) -> HaltReason | None:
        self._assistant.fit(self._bounds.max_context)
        return self._check()

    def _check(self) -> HaltReason | None:
        context = self._assistant.thread.token_estimate()
        return self._bounds.check(RunState(self._tool_calls, context, self._clock.now()))

    async def _complete(self) -> Result[Response]:
        """Call the model, again after a failure that showed nothing and is worth it."""
        attempt = 0
        while True:
            attempt += 1
            shown = len(self._assistant.emitter.text)
            result = await self._assistant.complete()
            if not isinstance(result, Err) or len(self._assistant.emitter.text) > shown:
                return result
            wait_s = self._retry.wait_s(attempt, result.error)
            if wait_s is None:
                return result
            await self._retry.sleep(wait_s)

    def _broken(self, failure: Err) -> RunOutcome:
        partial = self._assistant.emitter.text
        if isinstance(failure.error, UpstreamError) and not partial:
            return Refused(RefusalReason.PROVIDER_DOWN, PROVIDER_DOWN)
        return Failed(failure.error, partial)

    def _halted(self, reason: HaltReason) -> Halted:
        return Halted(reason, self._assistant.emitter.text)

    @staticmethod
    def _proposed(mutation: Mutation, response: Response) -> Proposed:
        return Proposed(mutation, response.text)
