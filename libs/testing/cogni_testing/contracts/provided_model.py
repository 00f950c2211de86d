"""What a `ModelPort` promises whose model answers over a provider's wire: run it against the provider double.

A test class inherits each contract of this module and of `provided_failures`, and says how the adapter is connected.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import pytest

from cogni_domain.ports.model import ModelPort
from cogni_engine import (
    Definition,
    Emitter,
    HealthState,
    Response,
    ResponseKind,
    ToolCall,
)
from cogni_kernel import Err, Result, TaskClass, Usage
from cogni_testing.assertions import ok
from cogni_testing.contracts.model import LOOK_UP, PASSAGE, QUESTION, ModelContract, asked
from cogni_testing.providers import (
    COMMENT,
    INVALID_UTF8,
    NOT_A_NUMBER,
    NOT_JSON,
    UNKNOWN_EVENT,
    EmptyIds,
    Fault,
    ProviderDouble,
    Received,
    RepeatedUsage,
    SameIndex,
    ScriptedCall,
    ServesWhole,
    Split,
    Turn,
    says,
)

PATIENCE_S = 30.0
THREAD = tuple(asked(QUESTION, PASSAGE))
CALLS = (
    ScriptedCall("look_up_request", ('{"refer', 'ence": "REQ', '-4471"}'), "one"),
    ScriptedCall("look_up_request", ('{"reference": "休暇-9"}',), "two"),
    ScriptedCall("list_all", (), "three"),
)
CALLED = tuple(ToolCall(call.id, call.name, call.arguments) for call in CALLS)


class ClosableModel(ModelPort, Protocol):
    """A model that holds connections."""

    async def close(self) -> None:
        """Let go of them."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question.

    Attributes:
        streamed: The text that was emitted meanwhile.
        requests: What the provider was asked.
    """

    result: Result[Response]
    streamed: str
    requests: Sequence[Received]
    health: HealthState

    @property
    def response(self) -> Response:
        """The answer; there must be one, and its text must be what was streamed."""
        response = ok(self.result)
        assert response.text == self.streamed
        return response

    @property
    def usage(self) -> Usage:
        """What the answer cost, as the provider says."""
        return Usage.from_provider(self.response.raw_usage, TaskClass.CONVERSATIONAL)


class Provided(ABC):
    """A model and the provider behind it."""

    @abstractmethod
    def connect(self, double: ProviderDouble, silence_s: float) -> ClosableModel:
        """Return the adapter over a double, waiting so long for each next piece."""

    @asynccontextmanager
    async def served(
        self, *turns: Turn, silence_s: float = PATIENCE_S
    ) -> AsyncIterator[tuple[ProviderDouble, ClosableModel]]:
        """Yield a double that answers with these turns, and the model over it."""
        async with ProviderDouble(turns) as double:
            model = self.connect(double, silence_s)
            try:
                yield double, model
            finally:
                await model.close()

    async def ask(
        self,
        *turns: Turn,
        tools: Sequence[Definition] = (LOOK_UP,),
        silence_s: float = PATIENCE_S,
    ) -> Asked:
        """Ask once."""
        async with self.served(*turns, silence_s=silence_s) as (double, model):
            emitter = Emitter(lambda _: None)
            result = await model.complete(THREAD, tools, emitter)
            return Asked(result, emitter.text, tuple(double.requests), model.health())


class ServedModelContract(Provided, ModelContract):
    """The contract of every model, over the wire."""

    @pytest.fixture(autouse=True)
    async def _serving(self) -> AsyncIterator[None]:
        async with self.served(says("You get 20 weeks", " [s4]")) as (_, model):
            self._model = model
            yield

    def make_model(self) -> ClosableModel:
        return self._model


class ProvidedAnswersContract(Provided):
    """The same answer from every provider, for whatever shape it came in."""

    async def test_text_is_streamed_and_named_and_charged(self) -> None:
        found = await self.ask(Turn(("20 weeks", " [s4]"), usage=(40, 9)))

        assert found.response.kind is ResponseKind.ANSWER
        assert found.response.text == "20 weeks [s4]"
        assert found.response.model_used == "served-1"
        assert (found.usage.input, found.usage.output) == (40, 9)
        assert found.health is HealthState.HEALTHY

    async def test_parallel_calls_come_whole_and_in_order_beside_text(self) -> None:
        found = await self.ask(Turn(("One moment.",), CALLS))

        assert found.response.kind is ResponseKind.TOOL_CALLS
        assert found.response.text == "One moment."
        assert _with_arguments(found.response) == _with_arguments(Response("", CALLED))

    async def test_two_hundred_parallel_calls_come_through(self) -> None:
        many = tuple(ScriptedCall(f"tool_{n}", ("{", f'"n":{n}', "}")) for n in range(200))

        calls = (await self.ask(Turn(calls=many))).response.tool_calls

        assert [(c.name, c.arguments) for c in calls] == [(c.name, c.arguments) for c in many]
        assert len({c.id for c in calls}) == 200

    @pytest.mark.parametrize("faults", [(EmptyIds(),), (SameIndex(),), (EmptyIds(), COMMENT)])
    async def test_fragments_are_joined_whatever_stands_in_them(
        self, faults: tuple[Fault, ...]
    ) -> None:
        found = await self.ask(Turn(calls=CALLS, faults=faults))

        assert _with_arguments(found.response) == _with_arguments(Response("", CALLED))

    @pytest.mark.parametrize("written", ["{not json", '{"n": NaN}', '{"n": 1', "[1]", "null", "\\"])
    async def test_arguments_come_exactly_as_they_were_written(self, written: str) -> None:
        found = await self.ask(Turn(calls=(ScriptedCall("look_up_request", tuple(written)),)))

        assert [call.arguments for call in found.response.tool_calls] == [written]

    async def test_a_call_without_arguments_is_a_call(self) -> None:
        turn = Turn(calls=(ScriptedCall("list_all", ("",)), ScriptedCall("list_all", ())))

        found = await self.ask(turn)

        assert {call.arguments for call in found.response.tool_calls} <= {"", "{}"}
        assert len(found.response.tool_calls) == 2

    @pytest.mark.parametrize("every", [1, 7])
    async def test_the_network_may_cut_anywhere(self, every: int) -> None:
        said = ("二十週間", " \U0001f469\u200d\U0001f52c", " é")

        found = await self.ask(Turn(said, CALLS, faults=(Split(every),)))

        assert found.response.text == "".join(said)
        assert found.response.tool_calls == CALLED

    async def test_a_pair_of_surrogates_in_two_pieces_is_one_character(self) -> None:
        assert (await self.ask(Turn(("so \ud83d", "\ude00!")))).response.text == "so \U0001f600!"

    async def test_a_piece_of_a_mebibyte_comes_through(self) -> None:
        large, arguments = "é" * 2**19, '{"q": "' + "x" * 2**20 + '"}'

        found = await self.ask(Turn((large,), (ScriptedCall("look_up_request", (arguments,)),)))

        assert found.response.text == large
        assert found.response.tool_calls[0].arguments == arguments

    @pytest.mark.parametrize("calls", [(), CALLS], ids=["says", "calls"])
    async def test_an_answer_may_come_whole(self, calls: tuple[ScriptedCall, ...]) -> None:
        found = await self.ask(Turn(("20 weeks",), calls, usage=(4, 2), faults=(ServesWhole(),)))

        assert found.response.text == "20 weeks"
        assert [(c.id, c.name) for c in found.response.tool_calls] == [
            (c.id, c.name) for c in calls
        ]
        assert found.usage.total == 6

    @pytest.mark.parametrize(
        "noise", [NOT_JSON, INVALID_UTF8, NOT_A_NUMBER, UNKNOWN_EVENT, COMMENT]
    )
    async def test_an_event_that_cannot_be_read_costs_only_itself(self, noise: Fault) -> None:
        assert (await self.ask(Turn(("so ", "so"), faults=(noise,)))).response.text == "so so"

    async def test_a_refusal_is_what_the_model_said_or_a_failure_that_stays(self) -> None:
        found = await self.ask(Turn(refusal=("I can", "not."), usage=None))

        if isinstance(found.result, Err):
            assert not found.result.error.retryable
        else:
            assert found.response.text == "I cannot."

    async def test_empty_usage_beside_the_true_one_does_not_count(self) -> None:
        found = await self.ask(Turn(("ok",), usage=(40, 9), faults=(RepeatedUsage(),)))

        assert (found.usage.input, found.usage.output) == (40, 9)

    async def test_usage_that_is_not_told_is_absent(self) -> None:
        assert (await self.ask(Turn(("ok",), usage=None))).usage.is_absent

    async def test_one_model_answers_many_questions_at_once(self) -> None:
        async with self.served(*(says(str(n)) for n in range(8))) as (_, model):
            answers = await asyncio.gather(*(model.complete(THREAD, (), None) for _ in range(8)))

        assert sorted(ok(answer).text for answer in answers) == [str(n) for n in range(8)]

    async def test_tools_are_offered_by_name_description_and_schema(self) -> None:
        [request] = (await self.ask(says("ok"))).requests

        [tool] = request.body["tools"]
        tool = tool.get("function", tool)
        assert (tool["name"], tool["description"]) == ("look_up_request", str(LOOK_UP.description))
        assert LOOK_UP.to_wire()["parameters"] in (
            tool.get("parameters"),
            tool.get("input_schema"),
        )


def _with_arguments(response: Response) -> list[tuple[str, str, str]]:
    """Return the calls; no arguments and an empty object are the same."""
    return [(c.id, c.name, c.arguments or "{}") for c in response.tool_calls]
