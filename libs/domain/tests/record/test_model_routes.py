"""A model with one that stands in for it."""

from collections.abc import Sequence

import pytest

from cogni_domain.governance.routing import ModelBinding, ResidencyRequirement, RoutingPolicy
from cogni_domain.model_routes import TRY_EVERY, ModelRoutes, RoutedModel
from cogni_domain.ports.model import ModelPort
from cogni_domain.providers.failures import AWAY, WITHHELD
from cogni_domain.providers.health import RecentCalls
from cogni_engine import Definition, Emitter, HealthState, Message, Response
from cogni_kernel import Err, Error, HumanText, Ok, Result, TaskClass, UpstreamError
from cogni_testing import FrozenClock, RecordedModel, err, ok
from cogni_testing.contracts.model import ModelContract

GONE = UpstreamError(AWAY)
ASKED = (Message.user(HumanText("How many weeks?")),)


class Ailing(ModelPort):
    """Answers or fails as it is told, and knows how it has been; says `before` first."""

    def __init__(self, name: str, outcome: Response | Error, before: str = "") -> None:
        self.name = name
        self.outcome = outcome
        self.before = before
        self.asked = 0
        self.calls = RecentCalls()

    @property
    def model_version(self) -> str:
        return self.name

    @property
    def task_class(self) -> TaskClass:
        return TaskClass.CONVERSATIONAL

    def health(self) -> HealthState:
        return self.calls.health()

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        self.asked += 1
        self.calls.note(went_well=isinstance(self.outcome, Response))
        if emitter is not None:
            emitter.emit_token(self.before)
        return Err(self.outcome) if isinstance(self.outcome, Error) else Ok(self.outcome)


def answers(name: str) -> Ailing:
    return Ailing(name, Response("20 weeks", model_used=name))


def fails(error: Error = GONE, before: str = "") -> Ailing:
    return Ailing("first", error, before)


async def ask(model: ModelPort) -> Result[Response]:
    return await model.complete(ASKED, (), Emitter(lambda _: None))


class TestRoutedModel(ModelContract):
    def make_model(self) -> RoutedModel:
        script = [Response("20 weeks [s4]")]
        return RoutedModel(RecordedModel(script), RecordedModel(script), FrozenClock())


async def test_the_first_answers_while_it_can() -> None:
    first, second = answers("first"), answers("second")

    response = ok(await ask(RoutedModel(first, second, FrozenClock())))

    assert response.model_used == "first"
    assert second.asked == 0


@pytest.mark.parametrize(
    "error",
    [
        GONE,
        UpstreamError(AWAY, retryable=False, detail={"status": 401}),
        UpstreamError(AWAY, retryable=False, detail={"status": 429}),
    ],
)
async def test_the_second_stands_in_and_is_named(error: Error) -> None:
    told: list[str] = []
    model = RoutedModel(fails(error), answers("second"), FrozenClock(), told.append)

    response = ok(await ask(model))

    assert response.model_used == "second"
    assert told == ["second"]
    assert model.model_version == "first"


@pytest.mark.parametrize(
    "error",
    [
        UpstreamError(WITHHELD, retryable=False),
        UpstreamError(AWAY, retryable=False, detail={"status": 400}),
    ],
)
async def test_what_the_request_is_to_blame_for_goes_to_nobody_else(error: Error) -> None:
    second = answers("second")

    result = await ask(RoutedModel(fails(error), second, FrozenClock()))

    assert err(result, UpstreamError) is error
    assert second.asked == 0


async def test_nobody_goes_on_where_a_word_was_shown() -> None:
    second = answers("second")

    result = await ask(RoutedModel(fails(before="You get "), second, FrozenClock()))

    assert err(result, UpstreamError) is GONE
    assert second.asked == 0


async def test_without_an_emitter_nothing_was_shown() -> None:
    model = RoutedModel(fails(before="You get "), answers("second"), FrozenClock())

    assert ok(await model.complete(ASKED, (), None)).model_used == "second"


async def test_when_both_fail_the_failure_is_one_that_may_be_tried_again() -> None:
    refusal = UpstreamError(AWAY, retryable=False, detail={"status": 400})
    model = RoutedModel(fails(GONE), Ailing("second", refusal), FrozenClock())

    assert err(await ask(model), UpstreamError) is GONE


async def test_a_first_that_is_down_is_only_tried_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, first, second = FrozenClock(), fails(), answers("second")
    model = RoutedModel(first, second, clock)
    for _ in range(6):
        ok(await ask(model))

    assert first.asked == 3
    clock.advance(TRY_EVERY)
    ok(await ask(model))
    ok(await ask(model))

    assert first.asked == 4
    assert "second stands in" in caplog.text


async def test_a_first_that_is_back_is_asked_again() -> None:
    clock, first, second = FrozenClock(), fails(), answers("second")
    model = RoutedModel(first, second, clock)
    for _ in range(4):
        ok(await ask(model))
    first.outcome = Response("20 weeks", model_used="first")
    clock.advance(TRY_EVERY)

    answered = [ok(await ask(model)).model_used for _ in range(2)]

    assert answered == ["first", "first"]


async def test_a_second_that_is_down_too_keeps_nobody_from_the_first() -> None:
    first, second = fails(), Ailing("second", GONE)
    model = RoutedModel(first, second, FrozenClock())
    for _ in range(5):
        err(await ask(model), UpstreamError)

    assert first.asked == 5
    assert model.health() is HealthState.DOWN


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [(0, 0, "healthy"), (0, 3, "healthy"), (1, 0, "degraded"), (3, 0, "degraded"), (3, 3, "down")],
)
def test_it_is_down_only_when_both_are(first: int, second: int, state: str) -> None:
    one, other = fails(), Ailing("second", GONE)
    for model, failures in ((one, first), (other, second)):
        for _ in range(failures):
            model.calls.note(went_well=False)

    assert RoutedModel(one, other, FrozenClock()).health() is HealthState(state)


EU = ModelBinding("openai", "gpt-4.1-2025-04-14", "eu")
US = ModelBinding("anthropic", "claude-sonnet-4-6", "us")


async def test_the_model_of_a_run_never_leaves_its_region() -> None:
    first, second = fails(), answers("second")
    policy = RoutingPolicy({TaskClass.CONVERSATIONAL: EU}, {TaskClass.CONVERSATIONAL: US})
    routes = ModelRoutes(policy, {EU: first, US: second}, FrozenClock())

    anywhere = ok(routes.model_for(TaskClass.CONVERSATIONAL))
    within = ok(routes.model_for(TaskClass.CONVERSATIONAL, ResidencyRequirement.within("eu")))

    assert ok(await ask(anywhere)).model_used == "second"
    assert err(await ask(within), UpstreamError) is GONE
    assert second.asked == 1
    err(
        routes.model_for(TaskClass.CONVERSATIONAL, ResidencyRequirement.within("ch")), UpstreamError
    )
