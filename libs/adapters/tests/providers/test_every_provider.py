"""What is true of every vendor's adapter, over the vendor's own client and real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from cogni_engine import Emitter, HealthState, ResponseKind, ToolCall
from cogni_kernel import TaskClass, TimeoutError, UpstreamError, Usage
from cogni_testing import err, ok
from cogni_testing.contracts.model import LOOK_UP, PASSAGE, QUESTION, ModelContract, asked
from cogni_testing.providers import (
    COMMENT,
    INVALID_UTF8,
    NOT_A_NUMBER,
    NOT_JSON,
    UNKNOWN_EVENT,
    Cut,
    EmptyIds,
    ErrorEvent,
    Fault,
    Finish,
    Hang,
    HangUp,
    ProviderDouble,
    RepeatedUsage,
    SameIndex,
    ScriptedCall,
    ServesWhole,
    Split,
    Status,
    Turn,
    says,
)

if TYPE_CHECKING:
    from tests.providers.conftest import Adapter, Ask, Vendor

THREAD = asked(QUESTION, PASSAGE)
CALLS = (
    ScriptedCall("look_up_request", ('{"refer', 'ence": "REQ', '-4471"}'), "one"),
    ScriptedCall("look_up_request", ('{"reference": "REQ-9"}',), "two"),
    ScriptedCall("list_all", (), "three"),
)
CALLED = (
    ToolCall("one", "look_up_request", '{"reference": "REQ-4471"}'),
    ToolCall("two", "look_up_request", '{"reference": "REQ-9"}'),
    ToolCall("three", "list_all", ""),
)


class TestEveryProvider(ModelContract):
    @pytest.fixture(autouse=True)
    async def _serving(self, vendor: "Vendor") -> AsyncIterator[None]:
        async with ProviderDouble([says("You get 20 weeks", " [s4]")]) as double:
            self.model = vendor(double, 5.0)
            yield
            await self.model.close()

    def make_model(self) -> "Adapter":
        return self.model


async def test_an_answer_is_streamed_and_its_usage_read(ask: "Ask") -> None:
    found = await ask(Turn(("20 weeks", " [s4]"), usage=(40, 9)))

    response = ok(found.result)
    usage = Usage.from_provider(response.raw_usage, TaskClass.CONVERSATIONAL)
    assert response.kind is ResponseKind.ANSWER
    assert response.text == found.streamed == "20 weeks [s4]"
    assert response.model_used == "served-1"
    assert (usage.input, usage.output) == (40, 9)


async def test_calls_come_whole_and_in_order(ask: "Ask") -> None:
    found = await ask(Turn(("One moment.",), CALLS))

    response = ok(found.result)
    assert response.tool_calls == CALLED
    assert response.text == found.streamed == "One moment."


@pytest.mark.parametrize("faults", [(EmptyIds(),), (EmptyIds(), UNKNOWN_EVENT), (COMMENT,)])
async def test_fragments_of_a_call_are_joined_whatever_stands_in_them(
    ask: "Ask", faults: tuple[Fault, ...]
) -> None:
    found = await ask(Turn(calls=CALLS, faults=faults))

    assert ok(found.result).tool_calls == CALLED


async def test_calls_that_are_all_counted_as_the_first_stay_apart(ask: "Ask") -> None:
    found = await ask(Turn(calls=CALLS, faults=(SameIndex(),)))

    assert ok(found.result).tool_calls == CALLED


async def test_arguments_come_exactly_as_they_were_written(ask: "Ask") -> None:
    found = await ask(
        Turn(calls=(ScriptedCall("look_up_request", ('{"reference": NaN', ",,"), "x"),))
    )

    assert ok(found.result).tool_calls[0].arguments == '{"reference": NaN,,'


@pytest.mark.parametrize("every", [1, 3, 7])
async def test_the_network_may_cut_anywhere(ask: "Ask", every: int) -> None:
    said = ("二十週間", " \U0001f469\u200d\U0001f52c", " é")

    found = await ask(Turn(said, CALLS, faults=(Split(every=every),)))

    response = ok(found.result)
    assert response.text == found.streamed == "".join(said)
    assert response.tool_calls == CALLED


async def test_a_pair_of_surrogates_in_two_pieces_is_one_character(ask: "Ask") -> None:
    found = await ask(Turn(("so \ud83d", "\ude00!")))

    assert ok(found.result).text == found.streamed == "so \U0001f600!"


async def test_a_piece_of_a_megabyte_comes_through(ask: "Ask") -> None:
    found = await ask(says("é" * 600_000))

    assert len(ok(found.result).text) == 600_000


@pytest.mark.parametrize("calls", [(), CALLS], ids=["says", "calls"])
async def test_a_server_that_does_not_stream_is_understood(
    ask: "Ask", calls: tuple[ScriptedCall, ...]
) -> None:
    found = await ask(Turn(("20 weeks",), calls, usage=(4, 2), faults=(ServesWhole(),)))

    response = ok(found.result)
    assert response.text == found.streamed == "20 weeks"
    assert [(c.id, c.name) for c in response.tool_calls] == [(c.id, c.name) for c in calls]
    assert Usage.from_provider(response.raw_usage, TaskClass.CONVERSATIONAL).total == 6


@pytest.mark.parametrize("fault", [NOT_JSON, INVALID_UTF8, NOT_A_NUMBER, UNKNOWN_EVENT, COMMENT])
async def test_an_event_that_cannot_be_read_costs_only_itself(ask: "Ask", fault: Fault) -> None:
    found = await ask(Turn(("so ", "so"), faults=(fault,)))

    assert ok(found.result).text == found.streamed == "so so"


async def test_empty_usage_beside_the_true_one_does_not_count(ask: "Ask") -> None:
    found = await ask(Turn(("ok",), usage=(40, 9), faults=(RepeatedUsage(),)))

    usage = Usage.from_provider(ok(found.result).raw_usage, TaskClass.CONVERSATIONAL)
    assert (usage.input, usage.output) == (40, 9)


async def test_usage_that_is_not_told_is_absent(ask: "Ask") -> None:
    found = await ask(Turn(("ok",), usage=None))

    assert Usage.from_provider(ok(found.result).raw_usage, TaskClass.CONVERSATIONAL).is_absent


@pytest.mark.parametrize(
    ("finish", "words"), [(Finish.LENGTH, "too long"), (Finish.WITHHELD, "withheld")]
)
async def test_an_answer_that_was_not_let_finish_is_a_failure(
    ask: "Ask", finish: Finish, words: str
) -> None:
    found = await ask(Turn(("so ",), finish=finish))

    failure = err(found.result, UpstreamError)
    assert not failure.retryable
    assert words in str(failure.message)


@pytest.mark.parametrize("half_event", [True, False])
@pytest.mark.parametrize("well_ended", [True, False])
async def test_a_stream_that_breaks_off_is_a_failure_and_not_an_answer(
    ask: "Ask", half_event: bool, well_ended: bool
) -> None:
    cut = Cut(half_event=half_event, well_ended=well_ended)

    found = await ask(Turn(("You get ",), faults=(cut,)))

    assert err(found.result, UpstreamError).retryable
    assert found.streamed == "You get "


@pytest.mark.parametrize(
    ("code", "retryable"), [("overloaded_error", True), ("invalid_request_error", False)]
)
async def test_an_error_in_the_middle_of_a_stream_is_a_failure(
    ask: "Ask", code: str, retryable: bool
) -> None:
    found = await ask(Turn(("so ",), faults=(ErrorEvent(after=2, code=code),)))

    failure = err(found.result, UpstreamError)
    assert failure.retryable is retryable
    assert failure.detail["code"] == code


@pytest.mark.parametrize(
    ("status", "headers", "wait_s"),
    [
        (429, {"retry-after": "7"}, 7.0),
        (429, {"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        (429, {"retry-after": "soon"}, None),
        (500, {}, None),
        (503, {"retry-after": "2.5"}, 2.5),
        (529, {}, None),
        (400, {}, None),
        (401, {}, None),
        (404, {}, None),
    ],
)
async def test_a_refusal_says_whether_and_when_to_come_back(
    ask: "Ask", status: int, headers: dict[str, str], wait_s: float | None
) -> None:
    found = await ask(Turn(faults=(Status(status, headers, message="your text"),)))

    failure = err(found.result, UpstreamError)
    assert failure.retryable is (status >= 429)
    assert failure.detail.get("retry_after_s") == wait_s
    assert failure.detail["status"] == status
    assert "your text" not in repr(failure)
    assert len(found.double.requests) == 1


async def test_a_provider_that_hangs_up_is_away(ask: "Ask") -> None:
    found = await ask(Turn(faults=(HangUp(),)))

    assert err(found.result, UpstreamError).retryable
    assert found.model.health() is HealthState.DEGRADED


@pytest.mark.parametrize("after", [None, 2])
async def test_a_provider_that_falls_silent_is_late(vendor: "Vendor", after: int | None) -> None:
    async with ProviderDouble([Turn(("so ",), faults=(Hang(after),))]) as double:
        model = vendor(double, 0.2)
        result = await model.complete(THREAD, (), None)
        await model.close()

    assert err(result, TimeoutError).retryable


async def test_a_cancelled_call_reaches_the_provider(vendor: "Vendor") -> None:
    async with ProviderDouble([Turn(("so ",), faults=(Hang(3),))]) as double:
        model = vendor(double, 5.0)
        streaming = asyncio.Event()
        emitter = Emitter(lambda _: streaming.set())
        asking = asyncio.create_task(model.complete(THREAD, (), emitter))
        await asyncio.wait_for(_until_asked(double), 5)
        asking.cancel()
        await asyncio.wait([asking])
        await asyncio.wait_for(double.requests[0].gone.wait(), 5)
        await model.close()

    assert asking.cancelled()


async def test_three_failures_in_a_row_are_a_provider_that_is_down(vendor: "Vendor") -> None:
    async with ProviderDouble([Turn(faults=(Status(500),))]) as double:
        model = vendor(double, 5.0)
        for _ in range(3):
            err(await model.complete(THREAD, (), None), UpstreamError)
        state = model.health()
        await model.close()

    assert state is HealthState.DOWN


async def test_tools_are_offered_by_name_description_and_schema(vendor: "Vendor") -> None:
    async with ProviderDouble([says("ok")]) as double:
        model = vendor(double, 5.0)
        ok(await model.complete(THREAD, [LOOK_UP], None))
        await model.close()

    [tool] = double.requests[0].body["tools"]
    tool = tool.get("function", tool)
    assert tool["name"] == "look_up_request"
    assert tool["description"] == str(LOOK_UP.description)
    assert LOOK_UP.to_wire()["parameters"] in (tool.get("parameters"), tool.get("input_schema"))


async def _until_asked(double: ProviderDouble) -> None:
    while not double.requests:
        await asyncio.sleep(0.01)
