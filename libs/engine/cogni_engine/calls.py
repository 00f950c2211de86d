"""How the calls of one model answer are answered: each id once, whatever happens."""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count

from cogni_engine.assistant import Assistant
from cogni_engine.channel.issuing import Issuing
from cogni_engine.channel.marker import Marker
from cogni_engine.guard import broken, detail_of, guarded
from cogni_engine.messages import ToolCall
from cogni_engine.outcome import Mutation
from cogni_engine.steps import RefusalStep, ToolCallStep
from cogni_engine.streaming.deltas import ToolCompletedDelta
from cogni_engine.streaming.phases import Phase
from cogni_engine.tool.arguments import Arguments, canonical, parse_arguments
from cogni_engine.tool.base import Base
from cogni_engine.tool.definition import EchoForm, Effect
from cogni_engine.tool.echo import MAX_MODEL_CHARACTERS, echo_of
from cogni_engine.tool.result import ToolResult
from cogni_kernel import Err, Error, HumanText, ModelFacingText, Result, encodable

NOT_OFFERED = ModelFacingText(
    "There is no such tool. Use only the tools you were given, by their exact names."
)
BEYOND_BOUNDS = ModelFacingText(
    "Not run: the limit of this turn is reached. Answer now with what you have, and say that you stopped there."
)
CUT_SHORT = ModelFacingText("Not answered: the turn was stopped while this call was under way.")
WAITS = ModelFacingText("Proposed. Nothing has changed yet: the person must accept it first.")
ONE_AT_A_TIME = ModelFacingText(
    "Not proposed: one change is already waiting for the person. Ask again later."
)
MOST_NAMED = 20
BROKE = HumanText("A tool did not work. You can ask again, or ask without it.")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model asked for, and whether the bounds still allow it."""

    asked: ToolCall
    within_bounds: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call id is answered with; `kept` is where the whole is, if it is too long for the model."""

    for_model: ModelFacingText
    kept: Marker | None = None
    mutation: Mutation | None = None
    not_offered: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    tool: type[Base]
    args: Arguments
    canonical: str
    call_id: str


def with_distinct_ids(calls: Sequence[ToolCall], taken: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls, with an id of our own where the provider gave none or one that is taken."""
    used = set(taken)
    mended = []
    for call in calls:
        known = encodable(call.id)
        call_id = known if known and known not in used else _free_id(used)
        used.add(call_id)
        mended.append(replace(call, id=call_id, name=encodable(call.name)))
    return tuple(mended)


def _free_id(used: Collection[str]) -> str:
    return next(free for n in count(1) if (free := f"call_{n}") not in used)


async def answer_calls(assistant: Assistant, calls: Sequence[Call]) -> list[Answer]:
    """Run the reads side by side, then propose the first mutation; answer every id in the order asked.

    When it is cancelled, the ids are answered all the same, so that the thread stays one a provider accepts.
    """
    answers: dict[int, Answer] = {}
    try:
        await _find_answers(assistant, calls, answers)
    finally:
        for n, call in enumerate(calls):
            answer = answers.get(n, Answer(CUT_SHORT))
            assistant.submit(call.asked.id, answer.for_model, answer.kept)
    return [answers[n] for n in range(len(calls))]


async def _find_answers(
    assistant: Assistant, calls: Sequence[Call], answers: dict[int, Answer]
) -> None:
    changes: dict[int, _Ready] = {}
    async with asyncio.TaskGroup() as reads:
        for n, call in enumerate(calls):
            prepared = _prepare(assistant, call)
            if isinstance(prepared, Answer):
                answers[n] = prepared
            elif prepared.tool.effect is Effect.MUTATE:
                changes[n] = prepared
            else:
                reads.create_task(_read(assistant, prepared, answers, n))
    waiting = False
    for n, change in changes.items():
        answers[n] = Answer(ONE_AT_A_TIME) if waiting else await _propose(assistant, change)
        waiting |= answers[n].mutation is not None


def _prepare(assistant: Assistant, call: Call) -> "_Ready | Answer":
    asked = call.asked
    if not call.within_bounds:
        assistant.record(_not_run(asked, "", "BeyondBounds"))
        return Answer(BEYOND_BOUNDS)
    tool = assistant.tools.fetch(asked.name)
    if tool is None:
        assistant.record(RefusalStep(asked.id, asked.name))
        return Answer(NOT_OFFERED, not_offered=True)
    ready = _parsed(tool, asked)
    if isinstance(ready, Err):
        error, version = ready.error, str(tool.definition.version)
        assistant.record(_not_run(asked, version, error.code, detail_of(error)))
        return Answer(_hint(error))
    return ready.value


def _not_run(asked: ToolCall, version: str, error: str, detail: str = "") -> ToolCallStep:
    written = encodable(asked.arguments)
    return ToolCallStep(asked.id, asked.name, version, written, 0.0, error, detail)


def _parsed(tool: type[Base], asked: ToolCall) -> Result[_Ready]:
    """Parse the arguments; a vocabulary is an author's code, so it may break."""
    try:
        args = parse_arguments(asked.arguments, tool.definition)
        return args.map(lambda found: _Ready(tool, found, canonical(found), asked.id))
    except Exception as bug:
        return Err(broken(bug, BROKE))


async def _read(assistant: Assistant, ready: _Ready, answers: dict[int, Answer], n: int) -> None:
    """Call a reading tool: its result goes to the model by one route, its echo to the screen by the other."""
    definition = ready.tool.definition
    assistant.emitter.emit_phase(Phase.CALLING_TOOL, definition.activity)
    started = time.perf_counter()
    channel = assistant.issuing()
    try:
        result = await guarded(lambda: _call(assistant, ready, channel), BROKE)
    except asyncio.CancelledError:
        _record(assistant, ready, time.perf_counter() - started, "Cancelled")
        raise
    seconds = round(time.perf_counter() - started, 6)
    screen: object
    if isinstance(result, Error):
        _record(assistant, ready, seconds, result.code, detail_of(result))
        structured = definition.echo.form is EchoForm.STRUCTURED
        screen = {"error": str(result.message)} if structured else str(result.message)
        answers[n] = Answer(_hint(result))
    else:
        assistant.note_evidence(result)
        screen, answers[n] = (
            result.screen,
            await _observed(assistant, ready, result, channel, seconds),
        )
    echo = echo_of(screen, definition.echo, str(definition.name))
    assistant.emitter.emit(
        ToolCompletedDelta(ready.call_id, str(definition.name), dict(ready.args), seconds, echo)
    )


async def _observed(
    assistant: Assistant,
    ready: _Ready,
    result: ToolResult,
    channel: Issuing | None,
    seconds: float,
) -> Answer:
    """Return what the model is told of a result; where that is not all of it, the record says so."""
    whole = str(result.for_model)
    read, foreign = Marker.disarm(
        whole[:MAX_MODEL_CHARACTERS], lambda marker: channel is not None and channel.issued(marker)
    )
    kept = await assistant.keep_whole(str(ready.tool.definition.name), result.for_model)
    facts = {"kept_whole": str(kept or ""), "foreign_markers": " ".join(foreign[:MOST_NAMED])}
    said = "\n".join(f"{name}: {fact}" for name, fact in facts.items() if fact)
    _record(assistant, ready, seconds, detail=said)
    text = ModelFacingText(read + whole[MAX_MODEL_CHARACTERS:]) if foreign else result.for_model
    return Answer(text, kept)


async def _call(assistant: Assistant, ready: _Ready, channel: Issuing | None) -> ToolResult | Error:
    result = await assistant.build(ready.tool, channel).call(ready.args)
    if not isinstance(result, ToolResult | Error):
        raise TypeError(f"{ready.tool.__name__}.call gave neither a ToolResult nor an Error")
    return result


async def _propose(assistant: Assistant, ready: _Ready) -> Answer:
    proposed = await guarded(lambda: _mutation(assistant, ready), BROKE)
    if isinstance(proposed, Error):
        _record(assistant, ready, 0.0, proposed.code, detail_of(proposed))
        return Answer(_hint(proposed))
    _record(assistant, ready, 0.0)
    return Answer(WAITS, mutation=proposed)


async def _mutation(assistant: Assistant, ready: _Ready) -> Mutation | Error:
    proposed = await assistant.build(ready.tool).propose(ready.args, ready.call_id)
    if not isinstance(proposed, Mutation | Error):
        raise TypeError(f"{ready.tool.__name__}.propose gave neither a Mutation nor an Error")
    return proposed


def _record(
    assistant: Assistant, ready: _Ready, seconds: float, error: str | None = None, detail: str = ""
) -> None:
    definition = ready.tool.definition
    assistant.record(
        ToolCallStep(
            ready.call_id,
            str(definition.name),
            str(definition.version),
            ready.canonical,
            seconds,
            error,
            detail,
        )
    )


def _hint(error: Error) -> ModelFacingText:
    return error.model_hint or ModelFacingText(f"The call failed: {error.message}")
