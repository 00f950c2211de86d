"""What a `ModelPort` promises of a provider that fails, breaks off, falls silent or is no longer wanted."""

import asyncio

import pytest

from cogni_engine import Emitter, HealthState
from cogni_kernel import Err, Error, TimeoutError, UpstreamError
from cogni_testing.assertions import err
from cogni_testing.contracts.provided_model import CALLED, CALLS, THREAD, ClosableModel, Provided
from cogni_testing.providers import (
    INVALID_UTF8,
    NOT_JSON,
    Cut,
    ErrorEvent,
    Fault,
    Finish,
    Hang,
    HangUp,
    ProviderDouble,
    Status,
    Turn,
    says,
)

SOON_S = 0.25
"""How soon a cancellation is known to the provider."""

ATTEMPTS = 5


class ProvidedFailuresContract(Provided):
    """Every failure is a value that says whether another call is worth it, and holds nobody's text."""

    @pytest.mark.parametrize(
        ("status", "headers", "wait_s"),
        [
            (429, {"retry-after": "7"}, 7.0),
            (429, {"retry-after-ms": "250", "retry-after": "9"}, 0.25),
            (429, {"retry-after": "soon"}, None),
            (429, {"retry-after": "-1"}, None),
            (500, {}, None),
            (502, {}, None),
            (503, {"retry-after": "2.5"}, 2.5),
            (529, {}, None),
            (400, {}, None),
            (401, {}, None),
            (403, {}, None),
            (404, {}, None),
        ],
    )
    async def test_a_refused_call_says_whether_and_when_to_come_back(
        self, status: int, headers: dict[str, str], wait_s: float | None
    ) -> None:
        found = await self.ask(Turn(faults=(Status(status, headers, message="your text"),)))

        failure = err(found.result, UpstreamError)
        assert failure.retryable is (status >= 429)
        assert failure.detail.get("retry_after_s") == wait_s
        assert failure.detail["status"] == status
        assert "your text" not in repr(failure)
        assert len(found.requests) == 1

    @pytest.mark.parametrize("half_event", [True, False])
    @pytest.mark.parametrize("well_ended", [True, False])
    async def test_a_stream_cut_before_its_end_is_a_failure_and_not_an_answer(
        self, *, half_event: bool, well_ended: bool
    ) -> None:
        cut = Cut(half_event=half_event, well_ended=well_ended)

        found = await self.ask(Turn(("You get ",), CALLS, faults=(cut,)))

        assert err(found.result, UpstreamError).retryable
        assert found.streamed == "You get "

    @pytest.mark.parametrize("well_ended", [True, False])
    async def test_a_stream_cut_after_its_end_is_an_answer(self, *, well_ended: bool) -> None:
        cut = Cut(before_finish=False, well_ended=well_ended)

        found = await self.ask(Turn(("One moment.",), CALLS, faults=(cut,)))

        assert found.response.text == "One moment."
        assert found.response.tool_calls == CALLED

    @pytest.mark.parametrize("noise", [NOT_JSON, INVALID_UTF8])
    async def test_calls_are_not_run_where_a_piece_of_them_may_be_lost(self, noise: Fault) -> None:
        found = await self.ask(Turn(calls=CALLS, faults=(noise,)))

        assert err(found.result, UpstreamError).retryable

    @pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.WITHHELD])
    async def test_an_answer_that_was_not_let_finish_is_a_failure_that_stays(
        self, finish: Finish
    ) -> None:
        found = await self.ask(Turn(("so ",), finish=finish))

        assert not err(found.result, UpstreamError).retryable

    async def test_an_error_in_the_middle_of_a_stream_may_be_worth_another_call(self) -> None:
        found = await self.ask(Turn(("so ", "so"), faults=(ErrorEvent(2, "overloaded_error"),)))

        failure = err(found.result, UpstreamError)
        assert failure.retryable
        assert failure.detail["code"] == "overloaded_error"

    async def test_a_provider_that_hangs_up_is_away(self) -> None:
        found = await self.ask(Turn(faults=(HangUp(),)))

        assert err(found.result, UpstreamError).retryable

    async def test_a_provider_that_is_not_there_is_away(self) -> None:
        async with self.served(says("ok")) as (double, model):
            await double.stop()
            result = await model.complete(THREAD, (), None)

        assert err(result, UpstreamError).retryable

    @pytest.mark.parametrize("after", [None, 0, 3])
    async def test_a_provider_that_falls_silent_is_late(self, after: int | None) -> None:
        found = await self.ask(Turn(("so ",) * 4, faults=(Hang(after),)), silence_s=0.2)

        assert err(found.result, TimeoutError).retryable

    @pytest.mark.parametrize("after", [None, 0, 3])
    async def test_a_cancelled_call_is_known_to_the_provider_at_once(
        self, after: int | None
    ) -> None:
        turn = Turn(("so ",) * 4, faults=(Hang(after),))
        async with self.served(turn) as (double, model):
            took_s = [await _cancelled(double, model) for _ in range(ATTEMPTS)]

        assert min(took_s) < SOON_S

    async def test_health_follows_the_last_calls(self) -> None:
        bad, good = Turn(faults=(Status(503),)), says("ok")
        turns = [good, bad, bad, bad, good, *[good] * 9]
        seen = []
        async with self.served(*turns) as (_, model):
            for _ in turns:
                await model.complete(THREAD, (), None)
                seen.append(model.health())

        degraded, down = HealthState.DEGRADED, HealthState.DOWN
        assert seen[:5] == [HealthState.HEALTHY, degraded, degraded, down, degraded]
        assert seen[-1] is HealthState.HEALTHY

    async def test_a_failure_leaves_the_model_as_able_as_before(self) -> None:
        faults: list[Fault] = [Cut(), HangUp(), Status(500), ErrorEvent()]
        turns = [t for fault in faults for t in (Turn(("no",), faults=(fault,)), says("yes"))]
        async with self.served(*turns) as (_, model):
            results = [await model.complete(THREAD, (), None) for _ in turns]

        texts = [_error(r.error) if isinstance(r, Err) else r.value.text for r in results]
        assert texts == ["failed", "yes"] * len(faults)


async def _cancelled(double: ProviderDouble, model: ClosableModel) -> float:
    """Cancel a call under way; return how long the provider took to know, in seconds."""
    loop = asyncio.get_running_loop()
    before = len(double.requests)
    asking = asyncio.create_task(model.complete(THREAD, (), Emitter(lambda _: None)))
    request = await double.received(before)
    await asyncio.sleep(0.02)
    at = loop.time()
    asking.cancel()
    await asyncio.wait([asking])
    await asyncio.wait_for(request.gone.wait(), 30)
    assert asking.cancelled()
    assert request.gone_at is not None
    return request.gone_at - at


def _error(error: Error) -> str:
    return "failed" if error.retryable else "failed for good"
