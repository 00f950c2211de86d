"""How the calls of one model answer are answered: each id once, whatever happens."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from cogni_engine.assistant import Assistant
from cogni_engine.messages import ToolCall
from cogni_engine.outcome import Mutation
from cogni_engine.steps import RefusalStep, ToolCallStep
from cogni_engine.streaming.deltas import ToolCompletedDelta
from cogni_engine.streaming.phases import Phase
from cogni_engine.tool.arguments import Arguments, canonical, parse_arguments
from cogni_engine.tool.base import Base
from cogni_engine.tool.definition import Effect
from cogni_engine.tool.echo import echo_of
from cogni_engine.tool.result import ToolResult
from cogni_kernel import Err, Error, HumanText, ModelFacingText, UpstreamError

NOT_OFFERED = ModelFacingText(
    "There is no such tool. Use only the tools you were given, by their exact names."
)
BEYOND_BOUNDS = ModelFacingText(
    "Not run: the limit of this turn is reached. Answer with what you have."
)
WAITS = ModelFacingText("Proposed. Nothing has changed yet: the person must accept it first.")
ONE_AT_A_TIME = ModelFacingText(
    "Not proposed: one change is already waiting for the person. Ask again later."
)
BROKE = HumanText("A tool did not work. You can ask again, or ask without it.")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model asked for, and whether the bounds still allow it."""

    asked: ToolCall
    within_bounds: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call id is answered with."""

    for_model: ModelFacingText
    mutation: Mutation | None = None
    not_offered: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    tool: type[Base]
    args: Arguments
    call_id: str


async def answer_calls(assistant: Assistant, calls: Sequence[Call]) -> list[Answer]:
    """Run the reads side by side, then propose the first mutation; answer every id in the order asked."""
    prepared = [_prepare(assistant, call) for call in calls]
    answers: dict[int, Answer] = {n: p for n, p in enumerate(prepared) if isinstance(p, Answer)}
    ready = {n: p for n, p in enumerate(prepared) if isinstance(p, _Ready)}
    reads = [n for n, p in ready.items() if p.tool.effect is Effect.READ]
    read = await asyncio.gather(*(_run(assistant, ready[n]) for n in reads))
    answers.update(zip(reads, read, strict=True))
    waiting = False
    for n in (n for n, p in ready.items() if p.tool.effect is Effect.MUTATE):
        answers[n] = Answer(ONE_AT_A_TIME) if waiting else await _propose(assistant, ready[n])
        waiting |= answers[n].mutation is not None
    ordered = [answers[n] for n in range(len(calls))]
    for call, answer in zip(calls, ordered, strict=True):
        assistant.submit(call.asked.id, answer.for_model)
    return ordered


def _prepare(assistant: Assistant, call: Call) -> "_Ready | Answer":
    asked = call.asked
    if not call.within_bounds:
        assistant.record(
            ToolCallStep(asked.id, asked.name, "", asked.arguments, 0.0, "BeyondBounds")
        )
        return Answer(BEYOND_BOUNDS)
    tool = assistant.tools.fetch(asked.name)
    if tool is None:
        assistant.record(RefusalStep(asked.id, asked.name))
        return Answer(NOT_OFFERED, not_offered=True)
    args = parse_arguments(asked.arguments, tool.definition)
    if isinstance(args, Err):
        version = str(tool.definition.version)
        code = args.error.code
        assistant.record(ToolCallStep(asked.id, asked.name, version, asked.arguments, 0.0, code))
        return Answer(_hint(args.error))
    return _Ready(tool, args.value, asked.id)


async def _run(assistant: Assistant, ready: _Ready) -> Answer:
    """Call a reading tool: its result goes to the model by one route, its echo to the screen by the other."""
    definition = ready.tool.definition
    assistant.emitter.emit_phase(Phase.CALLING_TOOL, definition.activity)
    started = time.perf_counter()
    result = await _guarded(assistant.build(ready.tool), ready.args)
    seconds = round(time.perf_counter() - started, 6)
    if isinstance(result, Error):
        error, for_model = result.code, _hint(result)
        screen: object = {"error": str(result.message)}
    else:
        assistant.note_evidence(result)
        error, screen, for_model = None, result.screen, result.for_model
    _record(assistant, ready, seconds, error)
    echo = echo_of(screen, definition.echo, str(definition.name))
    assistant.emitter.emit(
        ToolCompletedDelta(ready.call_id, str(definition.name), dict(ready.args), seconds, echo)
    )
    return Answer(for_model)


async def _guarded(tool: Base, args: Arguments) -> ToolResult | Error:
    try:
        return await tool.call(args)
    except Exception as bug:
        return UpstreamError(BROKE, retryable=False, detail={"bug": repr(bug)})


async def _propose(assistant: Assistant, ready: _Ready) -> Answer:
    try:
        proposed = await assistant.build(ready.tool).propose(ready.args, ready.call_id)
    except Exception as bug:
        proposed = UpstreamError(BROKE, retryable=False, detail={"bug": repr(bug)})
    if isinstance(proposed, Error):
        _record(assistant, ready, 0.0, proposed.code)
        return Answer(_hint(proposed))
    _record(assistant, ready, 0.0, None)
    return Answer(WAITS, mutation=proposed)


def _record(assistant: Assistant, ready: _Ready, seconds: float, error: str | None) -> None:
    definition = ready.tool.definition
    assistant.record(
        ToolCallStep(
            ready.call_id,
            str(definition.name),
            str(definition.version),
            canonical(ready.args),
            seconds,
            error,
        )
    )


def _hint(error: Error) -> ModelFacingText:
    return error.model_hint or ModelFacingText(f"The call failed: {error.message}")
