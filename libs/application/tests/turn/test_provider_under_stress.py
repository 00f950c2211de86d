"""Turns against a provider over real HTTP that is busy, silent or broken, and readers who stop."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_engine import (
    Arguments,
    Base,
    Effect,
    RunBounds,
    ToolCompletedDelta,
    ToolResult,
    describe,
)
from cogni_kernel import ConversationId, Error, GrantKey, RunRef, TokenCount
from cogni_testing import fake_principal, ok
from cogni_testing.providers import (
    Drip,
    Hang,
    ProviderDouble,
    Received,
    Script,
    ScriptedCall,
    Status,
    Turn,
    calls,
    says,
)

if TYPE_CHECKING:
    from tests.conftest import MakeWorld, World

QUESTION = "How long is parental leave?"
PATIENCE_S = 30
Provider = Callable[..., Awaitable[tuple[ProviderDouble, OpenAIChatAdapter]]]


class Lookup(Base):
    definition = describe(
        "lookup", does="Look something up", use_when="asked", do_not_use="otherwise"
    )
    grant = GrantKey("lookup")
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        return ToolResult.data("It is open.")


class Hangs(Lookup):
    definition = describe("hangs", does="Hang", use_when="asked", do_not_use="otherwise")
    grant = GrantKey("hangs")

    async def call(self, args: Arguments) -> ToolResult | Error:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    opened: list[tuple[ProviderDouble, OpenAIChatAdapter]] = []

    async def open_(script: Script) -> tuple[ProviderDouble, OpenAIChatAdapter]:
        double = await ProviderDouble(script).__aenter__()
        opened.append((double, OpenAIChatAdapter("served-1", "any", double.base_url)))
        return opened[-1]

    yield open_
    for double, adapter in opened:
        await adapter.close()
        await double.stop()


def script(*turns: Turn) -> Script:
    return Script(turns)


async def asked(double: ProviderDouble, number: int = 1) -> Received:
    async with asyncio.timeout(PATIENCE_S):
        while len(double.requests) < number:
            await asyncio.sleep(0.005)
    return double.requests[number - 1]


async def ending(world: "World", run: RunRef) -> dict[str, Any]:
    *_, last = await world.hear(run)
    outcome: Any = last.delta
    return dict(outcome.outcome)


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(
            Turn(("Twenty-six ", "weeks."), faults=(Hang(),)), id="before the status line"
        ),
        pytest.param(Turn(("Twenty-six ", "weeks."), faults=(Hang(2),)), id="in mid-answer"),
        pytest.param(Turn(("weeks ",) * 2_000, faults=(Drip(0.02),)), id="while it drips"),
    ],
)
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_stop_closes_the_providers_connection_within_250_ms(
    make_world: "MakeWorld", provider: Provider, turn: Turn, *, elsewhere: bool
) -> None:
    double, model = await provider(script(turn))
    world = await make_world(model=model)
    stopper = await make_world(beside=world) if elsewhere else world
    opened = await world.ask(QUESTION)
    request = await asked(double)
    await asyncio.sleep(0.1)

    began = asyncio.get_running_loop().time()
    ok(await stopper.service.stop(opened.run_ref, world.alice))
    await asyncio.wait_for(request.gone.wait(), PATIENCE_S)

    assert request.gone_at is not None
    assert request.gone_at - began < 0.25
    assert (await ending(world, opened.run_ref))["reason"] == "stopped"


async def test_a_stop_while_a_retry_is_waited_for_asks_nobody_again(
    make_world: "MakeWorld", provider: Provider
) -> None:
    busy = Turn(faults=(Status(429, {"retry-after": "5"}),))
    double, model = await provider(script(busy))
    world = await make_world(model=model)
    opened = await world.ask(QUESTION)
    await asked(double)
    await asyncio.sleep(0.05)

    ok(await world.service.stop(opened.run_ref, world.alice))

    assert (await ending(world, opened.run_ref))["kind"] == "halted"
    assert len(double.requests) == 1


async def test_a_busy_provider_is_asked_again_when_it_said(
    make_world: "MakeWorld", provider: Provider
) -> None:
    busy = Turn(faults=(Status(429, {"retry-after": "1"}),))
    double, model = await provider(script(busy, says("It is twenty-six weeks [s1].")))
    world = await make_world(model=model)

    outcome = await world.answer(QUESTION)

    assert outcome["kind"] == "completed"
    first, second = double.requests
    assert second.at - first.at >= 1


async def test_an_outage_is_met_with_a_tenth_more_calls_at_most(
    make_world: "MakeWorld", provider: Provider
) -> None:
    down = Turn(faults=(Status(503, {"retry-after": "0"}),))
    double, model = await provider(script(down))
    world = await make_world(model=model)

    outcomes = [await world.answer(QUESTION) for _ in range(60)]

    assert {outcome["reason"] for outcome in outcomes} == {"provider_down"}
    assert len(double.requests) <= 66


async def test_two_hundred_parallel_calls_are_answered_and_the_provider_accepts_the_thread(
    make_world: "MakeWorld", provider: Provider
) -> None:
    many = Turn(calls=tuple(ScriptedCall("lookup", ("{}",)) for _ in range(200)))
    double, model = await provider(script(many, says("It is open.")))
    world = await make_world(model=model, tools=[Lookup])

    opened = await world.ask("Is it open?")
    deltas = [numbered.delta for numbered in await world.hear(opened.run_ref)]

    assert sum(isinstance(delta, ToolCompletedDelta) for delta in deltas) == 10
    outcome: Any = deltas[-1]
    assert (outcome.outcome["reason"], outcome.outcome["text"]) == ("call_ceiling", "It is open.")
    sent = double.requests[1].body["messages"]
    [asking] = [m for m in sent if m.get("tool_calls")]
    answered = [m["tool_call_id"] for m in sent if m["role"] == "tool"]
    assert answered == [call["id"] for call in asking["tool_calls"]]
    assert len(set(answered)) == 200


async def test_a_tool_that_hangs_ends_at_the_deadline_with_what_was_found(
    make_world: "MakeWorld", provider: Provider
) -> None:
    _, model = await provider(script(calls("hangs", "{}")))
    bounds = RunBounds(max_wall_clock=timedelta(seconds=1))
    world = await make_world(model=model, tools=[Hangs], bounds=bounds)

    began = time.monotonic()
    outcome = await world.answer(QUESTION)

    assert time.monotonic() - began < 10
    assert (outcome["kind"], outcome["reason"]) == ("halted", "deadline")
    assert "It may be in what I found so far:\n\n- Parental leave [s1]" in outcome["text"]
    assert [c["handle"] for c in outcome["citations"]] == ["s1"]


async def test_a_halt_in_mid_answer_keeps_the_text_and_adds_nothing(
    make_world: "MakeWorld", provider: Provider
) -> None:
    _, model = await provider(script(Turn(("Twenty-six ", "weeks."), faults=(Hang(3),))))
    bounds = RunBounds(max_wall_clock=timedelta(seconds=1))
    world = await make_world(model=model, bounds=bounds)

    outcome = await world.answer(QUESTION)

    assert outcome["reason"] == "deadline"
    assert outcome["text"].startswith("Twenty-six")
    assert "found so far" not in outcome["text"]


async def test_a_halt_names_only_what_this_person_may_read(
    make_world: "MakeWorld", provider: Provider
) -> None:
    _, model = await provider(script(calls("hangs", "{}")))
    bounds = RunBounds(max_wall_clock=timedelta(seconds=1))
    world = await make_world(model=model, tools=[Hangs], bounds=bounds)
    bob = fake_principal(["hangs"], id="bob")

    outcome = await world.answer("Who decides exceptions to parental leave?", bob)

    assert "Exceptions" not in outcome["text"]


async def test_after_four_hundred_messages_the_oldest_give_way_and_the_question_is_answered(
    make_world: "MakeWorld", provider: Provider
) -> None:
    double, model = await provider(script(says("It is twenty-six weeks [s1].")))
    world = await make_world(model=model, bounds=RunBounds(max_context=TokenCount(1_500)))
    first = await world.answer("Where does it say so?")
    conversation = ConversationId(first["conversation_id"])
    for _ in range(199):
        await world.answer(QUESTION, conversation_id=conversation)

    outcome = await world.answer(QUESTION, conversation_id=conversation)

    assert outcome["kind"] == "completed"
    sent = double.requests[-1].body["messages"]
    assert [m for m in sent if m["role"] == "user"][-1]["content"] == QUESTION
    assert "Where does it say so?" not in [m["content"] for m in sent]
    assert 20 < len(sent) < 200
