"""A run without anything around it: a scripted model, made-up tools, a clock that stands still."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, TypeVar, cast

import pytest

from cogni_engine import (
    Arguments,
    Assistant,
    Base,
    Definition,
    Delta,
    Echo,
    Effect,
    Emitter,
    EngineStep,
    Message,
    Parameter,
    ParameterType,
    Registry,
    Response,
    RetryPolicy,
    RunBounds,
    RunLoop,
    RunOutcome,
    Thread,
    ToolCall,
    ToolResult,
    describe,
)
from cogni_engine.tool.base import Publisher
from cogni_kernel import (
    Err,
    Error,
    GrantKey,
    HumanText,
    ModelFacingText,
    Ok,
    Result,
    RunRef,
    TaskClass,
)

R = TypeVar("R")
Work: TypeAlias = Callable[[Arguments], Awaitable[Any]]
Turn: TypeAlias = (
    Response | Error | BaseException | Callable[[Emitter], Awaitable[Result[Response]]]
)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class StillClock:
    """Stands until it is moved."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class ScriptedModel:
    """Gives its turns in order: an answer, an error, an exception to raise, or something to run."""

    model_version = "scripted-1"
    task_class = TaskClass.CONVERSATIONAL

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = list(turns)
        self.read: list[tuple[Message, ...]] = []
        self.offered: list[tuple[str, ...]] = []

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        self.read.append(tuple(messages))
        self.offered.append(tuple(str(t.name) for t in tools))
        turn = self._turns.pop(0)
        if isinstance(turn, BaseException):
            raise turn
        if isinstance(turn, Error):
            return Err(turn)
        if isinstance(turn, Response):
            return Ok(turn)
        assert emitter is not None
        return await turn(emitter)


class NoContext:
    """Nothing may be touched."""

    run_ref = RunRef("run-1")

    def resource(self, kind: type[R]) -> R:
        raise LookupError(kind)


def answer(text: str, *calls: ToolCall, **usage: int) -> Response:
    return Response(text, calls, usage or None, "scripted-1")


def call(name: str, arguments: str = "", call_id: str = "") -> ToolCall:
    return ToolCall(call_id or f"id-{name}", name, arguments)


async def found(_: Arguments) -> ToolResult:
    return ToolResult.data({"content": "three pages", "count": 3})


def make_tool(
    name: str,
    work: Work = found,
    *,
    changes: bool = False,
    echo: Echo | None = None,
    parameters: tuple[Parameter, ...] = (),
    preview: Work | None = None,
) -> type[Base]:
    """Return a tool of that name whose `call` is `work`."""

    class Made(Base):
        definition = describe(
            name,
            does="Looks something up",
            use_when="asked",
            do_not_use="otherwise",
            parameters=parameters,
            echo=echo,
        )
        grant = GrantKey("any")
        effect = Effect.MUTATE if changes else Effect.READ

        async def call(self, args: Arguments) -> ToolResult | Error:
            return cast(ToolResult | Error, await work(args))

    if preview is not None:
        shown = preview
        Made.preview = lambda _, args: shown(args)  # type: ignore[method-assign,assignment,return-value]
    return Made


def text_parameter(name: str, *, required: bool = True) -> Parameter:
    return Parameter(name, ParameterType.STRING, ModelFacingText(f"The {name}."), required)


@dataclass
class Run:
    """One run and all that can be seen of it."""

    assistant: Assistant
    model: ScriptedModel
    clock: StillClock
    loop: RunLoop
    steps: list[EngineStep] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    async def outcome(self) -> RunOutcome:
        return await asyncio.wait_for(self.loop.execute(), 60)

    def observations(self) -> dict[str, str]:
        """Return what each call id was answered with; each is answered once."""
        answers = [(m.tool_call_id, m.text) for m in self.assistant.thread.tool_messages()]
        asked = [c.id for m in self.assistant.thread.messages for c in m.tool_calls]
        assert [name for name, _ in answers] == asked
        assert len(set(asked)) == len(asked)
        return {str(name): text for name, text in answers}

    def of(self, kind: type[R]) -> list[R]:
        """Return the steps and deltas of one class."""
        return [one for one in (*self.steps, *self.deltas) if isinstance(one, kind)]


class Doubles:
    """What the tests of the loop are written with."""

    answer = staticmethod(answer)
    call = staticmethod(call)
    tool = staticmethod(make_tool)
    text_parameter = staticmethod(text_parameter)
    context = NoContext

    @staticmethod
    def model(*turns: Turn) -> ScriptedModel:
        return ScriptedModel(turns)

    @staticmethod
    def run(
        *turns: Turn,
        tools: Sequence[type[Base]] = (),
        bounds: RunBounds | None = None,
        thread: Thread | None = None,
        attempts: int = 3,
        retry: RetryPolicy | None = None,
        channel: Publisher | None = None,
    ) -> Run:
        steps: list[EngineStep] = []
        deltas: list[Delta] = []
        waits: list[float] = []
        clock, model = StillClock(), ScriptedModel(turns)

        async def wait(seconds: float) -> None:
            waits.append(seconds)
            clock.move(seconds)

        assistant = Assistant(
            model=model,
            context=NoContext(),
            thread=thread or Thread((Message.user(HumanText("How many?")),)),
            tools=Registry(tuple(tools)),
            emitter=Emitter(deltas.append),
            on_step=steps.append,
            channel=channel,
        )
        retry = retry or RetryPolicy(attempts=attempts, uniform=lambda low, high: high, sleep=wait)
        loop = RunLoop(assistant, bounds or RunBounds(), clock, retry)
        return Run(assistant, model, clock, loop, steps, deltas, waits)


@pytest.fixture
def engine() -> Doubles:
    return Doubles()
