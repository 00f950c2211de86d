import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Completed, Emitter, Refused, Response, RetryPolicy
from cogni_engine.retry import CALLS_PER_RETRY, FIRST_RETRIES, MOST_SAVED, RetryBudget
from cogni_kernel import ConflictError, Err, HumanText, Result, UpstreamError

if TYPE_CHECKING:
    from tests.loop.conftest import Doubles

DOWN = UpstreamError(HumanText("Down."))


def asked_for(seconds: object) -> UpstreamError:
    return UpstreamError(HumanText("Busy."), detail={"retry_after_s": seconds})


@given(
    st.integers(1, 2_000),
    st.integers(1, 2_000),
    st.floats(0, 100),
    st.floats(0, 100),
    st.floats(0, 1),
)
def test_every_wait_is_bounded_and_there_is_none_after_the_last_attempt(
    attempts: int, attempt: int, base_s: float, cap_s: float, draw: float
) -> None:
    policy = RetryPolicy(
        attempts, base_s, cap_s, uniform=lambda low, high: low + draw * (high - low)
    )
    wait_s = policy.wait_s(attempt, DOWN)

    assert (wait_s is None) is (attempt >= attempts)
    assert wait_s is None or 0 <= wait_s <= min(cap_s, base_s * 2 ** min(attempt - 1, 60))


def test_the_longest_wait_doubles_up_to_the_cap() -> None:
    policy = RetryPolicy(attempts=6, base_s=1, cap_s=5, uniform=lambda low, high: high)

    assert [policy.wait_s(n, DOWN) for n in range(1, 7)] == [1, 2, 4, 5, 5, None]


def test_what_will_not_pass_is_not_waited_for() -> None:
    assert RetryPolicy().wait_s(1, ConflictError(HumanText("Taken."))) is None


@pytest.mark.parametrize(
    ("asked", "wait_s"),
    [
        (0, 0.0),
        (3, 3.0),
        (2.5, 2.5),
        (10, 10.0),
        (10.1, None),
        (3600, None),
        (-1, None),
        (math.nan, None),
        (math.inf, None),
    ],
)
def test_a_provider_that_says_when_to_come_back_is_taken_at_its_word(
    asked: float, wait_s: float | None
) -> None:
    assert RetryPolicy(cap_s=10).wait_s(1, asked_for(asked)) == wait_s


def test_a_word_that_is_no_number_is_not_taken() -> None:
    policy = RetryPolicy(base_s=2, uniform=lambda low, high: high)

    assert policy.wait_s(1, asked_for("soon")) == 2


@pytest.mark.parametrize("fields", [{"attempts": 0}, {"base_s": -1}, {"cap_s": -1}])
def test_a_policy_without_an_attempt_or_with_a_negative_wait_is_refused(
    fields: dict[str, int],
) -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        RetryPolicy(**fields)  # type: ignore[arg-type]


async def test_a_model_call_is_tried_again_and_every_attempt_costs(engine: "Doubles") -> None:
    run = engine.run(DOWN, asked_for(4), engine.answer("Four.", input_tokens=1, output_tokens=1))

    assert await run.outcome() == Completed("Four.")
    assert run.waits == [0.5, 4.0]
    assert (run.assistant.usage.calls, run.assistant.usage.absent_calls) == (3, 2)


async def test_attempts_are_bounded(engine: "Doubles") -> None:
    run = engine.run(DOWN, DOWN, DOWN, engine.answer("Never."), attempts=3)
    await run.outcome()

    assert len(run.model.read) == 3


async def test_each_model_call_has_its_own_attempts(engine: "Doubles") -> None:
    run = engine.run(
        DOWN,
        engine.answer("Looking. ", engine.call("search")),
        DOWN,
        engine.answer("Three."),
        tools=[engine.tool("search")],
        attempts=2,
    )

    assert await run.outcome() == Completed("Three.")


async def test_nothing_is_tried_again_after_text_was_shown(engine: "Doubles") -> None:
    async def cut(emitter: Emitter) -> Result[Response]:
        emitter.emit_token("The ans")
        return Err(DOWN)

    run = engine.run(cut, engine.answer("The answer."))
    await run.outcome()

    assert len(run.model.read) == 1
    assert run.waits == []


@given(st.lists(st.sampled_from(["call", "retry"]), max_size=400))
def test_retries_never_exceed_a_tenth_of_the_calls_or_the_first_few(wanted: list[str]) -> None:
    budget, calls, retries = RetryBudget(), 0, 0
    for want in wanted:
        if want == "call":
            budget.note_call()
            calls += 1
        else:
            retries += budget.take()
        assert retries <= max(FIRST_RETRIES, calls / CALLS_PER_RETRY)


def test_an_outage_after_a_quiet_day_does_not_spend_the_day_at_once() -> None:
    budget = RetryBudget()
    for _ in range(100_000):
        budget.note_call()

    assert sum(budget.take() for _ in range(1_000)) == MOST_SAVED


def test_a_tenth_is_really_there() -> None:
    budget, retries = RetryBudget(), 0
    for _ in range(1_000):
        budget.note_call()
        retries += budget.take()

    assert retries == 1_000 / CALLS_PER_RETRY


async def test_runs_that_share_a_policy_share_what_may_be_repeated(engine: "Doubles") -> None:
    retry = RetryPolicy(base_s=0)
    runs = [engine.run(DOWN, DOWN, DOWN, retry=retry) for _ in range(20)]

    outcomes = [await run.outcome() for run in runs]

    assert all(isinstance(outcome, Refused) for outcome in outcomes)
    assert sum(len(run.model.read) for run in runs) == 20 + FIRST_RETRIES


async def test_a_change_that_could_not_be_proposed_is_not_tried_again(engine: "Doubles") -> None:
    previews: list[object] = []

    async def busy(args: object) -> UpstreamError:
        previews.append(args)
        return DOWN

    run = engine.run(
        engine.answer("", engine.call("book", "{}")),
        engine.answer("Later, then."),
        tools=[engine.tool("book", changes=True, preview=busy)],
    )

    assert await run.outcome() == Completed("Later, then.")
    assert len(previews) == 1
