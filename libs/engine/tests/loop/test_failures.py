import asyncio
import builtins
from typing import TYPE_CHECKING

import pytest

from cogni_engine import (
    Emitter,
    Failed,
    ModelCallStep,
    RefusalReason,
    Refused,
    Response,
)
from cogni_kernel import (
    BudgetExceededError,
    Err,
    HumanText,
    Ok,
    Result,
    TimeoutError,
    UpstreamError,
)

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles

DOWN = UpstreamError(HumanText("The provider did not answer."))
REFUSED_KEY = UpstreamError(HumanText("The key was not accepted."), retryable=False)


async def test_a_provider_that_is_down_is_a_refusal(engine: "Doubles") -> None:
    run = engine.run(DOWN, DOWN, DOWN)

    outcome = await run.outcome()

    assert isinstance(outcome, Refused)
    assert outcome.reason is RefusalReason.PROVIDER_DOWN
    assert [s.error for s in run.of(ModelCallStep)] == ["Upstream"] * 3


async def test_a_provider_that_never_answers_in_time_is_down_as_well(engine: "Doubles") -> None:
    late = TimeoutError(HumanText("It took too long."))

    outcome = await engine.run(late, attempts=1).outcome()

    assert isinstance(outcome, Refused)
    assert outcome.reason is RefusalReason.PROVIDER_DOWN


async def test_a_failure_that_will_not_pass_is_told_as_it_is(engine: "Doubles") -> None:
    run = engine.run(REFUSED_KEY)

    assert await run.outcome() == Failed(REFUSED_KEY)
    assert run.waits == []


async def test_a_spent_budget_reads_as_a_limit(engine: "Doubles") -> None:
    spent = BudgetExceededError(HumanText("This month's budget is used up."))

    outcome = await engine.run(spent).outcome()

    assert outcome == Refused(RefusalReason.BUDGET_EXCEEDED, spent.message)


async def test_a_failure_in_mid_answer_keeps_what_was_shown(engine: "Doubles") -> None:
    async def cut(emitter: Emitter) -> Result[Response]:
        emitter.emit_token("The answer is")
        return Err(DOWN)

    run = engine.run(cut)

    assert await run.outcome() == Failed(DOWN, "The answer is")
    assert run.waits == []


async def test_an_adapter_that_raises_is_a_described_failure(engine: "Doubles") -> None:
    run = engine.run(ValueError("no such field: usage"))

    outcome = await run.outcome()

    assert isinstance(outcome, Failed)
    assert not outcome.error.retryable
    assert "ValueError: no such field: usage" in str(outcome.error.detail["trace"])
    assert "ValueError" not in str(outcome.error.message)
    [step] = run.of(ModelCallStep)
    assert step.error == "Upstream"
    assert "no such field" in step.detail
    assert step.usage.is_absent


@pytest.mark.parametrize("given", [None, "text", Ok(None), Ok("text"), 3])
async def test_an_adapter_that_gives_no_response_is_a_described_failure(
    engine: "Doubles", given: object
) -> None:
    async def odd(_: Emitter) -> Result[Response]:
        return given  # type: ignore[return-value]

    outcome = await engine.run(odd).outcome()

    assert isinstance(outcome, Failed)
    assert outcome.partial == ""


async def test_the_error_of_a_builtin_timeout_in_an_adapter_is_not_the_runs_deadline(
    engine: "Doubles",
) -> None:
    async def slow(_: Emitter) -> Result[Response]:
        async with asyncio.timeout(0):
            await asyncio.sleep(5)
        raise AssertionError

    outcome = await engine.run(slow).outcome()

    assert isinstance(outcome, Failed)


async def test_a_cancelled_call_inside_an_adapter_is_not_a_cancelled_run(
    engine: "Doubles",
) -> None:
    async def careless(_: Emitter) -> Result[Response]:
        lost = asyncio.create_task(asyncio.sleep(5))
        lost.cancel()
        await lost
        raise AssertionError

    outcome = await engine.run(careless).outcome()

    assert isinstance(outcome, Failed)
    assert "CancelledError" in str(outcome.error.detail["trace"])


async def test_cancelling_the_run_cancels_the_model_and_passes_through(engine: "Doubles") -> None:
    ended: list[str] = []
    started = asyncio.Event()

    async def endless(emitter: Emitter) -> Result[Response]:
        emitter.emit_token("So far")
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("model")
        raise AssertionError

    run = engine.run(endless)
    task = asyncio.create_task(run.loop.execute())
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["model"]
    assert run.assistant.usage.absent_calls == 1
    assert [s.error for s in run.of(ModelCallStep)] == ["Cancelled"]


async def test_an_adapter_cannot_swallow_a_cancellation(engine: "Doubles") -> None:
    started = asyncio.Event()

    async def deaf(_: Emitter) -> Result[Response]:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return Ok(Response("as if nothing had been"))
        raise AssertionError

    run = engine.run(deaf)
    task = asyncio.create_task(run.loop.execute())
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_bug_above_the_engine_is_not_taken_for_a_deadline(engine: "Doubles") -> None:
    run = engine.run(engine.answer("Four."))

    def full_disk(_: object) -> None:
        raise builtins.TimeoutError("the record cannot be written")

    run.assistant._on_step = full_disk

    with pytest.raises(builtins.TimeoutError, match="record"):
        await run.loop.execute()
