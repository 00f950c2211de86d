"""The double in responses, seen by the vendor's own client."""

from collections.abc import AsyncIterator

import openai
import pytest
from openai.types.responses import Response

from cogni_testing.providers import Finish, ProviderDouble, Script, ScriptedCall, Turn

BOTH = Turn(
    ("One ", "moment, 休暇."),
    (ScriptedCall("look_up", ('{"n', '": 1}')), ScriptedCall("draw", ("{}",), "mine")),
)


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    async with ProviderDouble([BOTH]) as found:
        yield found


@pytest.fixture
async def client(double: ProviderDouble) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="k", base_url=double.base_url, max_retries=0) as found:
        yield found


async def asked(client: openai.AsyncOpenAI, *, streams: bool) -> Response:
    """Return what the client's own types make of an answer."""
    if not streams:
        return await client.responses.create(model="m", input="?")
    async with client.responses.stream(model="m", input="?") as stream:
        heard = [event async for event in stream]
    assert [event.sequence_number for event in heard if hasattr(event, "sequence_number")]
    last = heard[-1]
    assert last.type in ("response.completed", "response.incomplete")
    return last.response


@pytest.mark.parametrize("streams", [True, False])
async def test_the_client_reads_text_and_calls(client: openai.AsyncOpenAI, streams: bool) -> None:
    found = await asked(client, streams=streams)

    called = [item for item in found.output if item.type == "function_call"]
    assert found.output_text == "One moment, 休暇."
    assert [(c.call_id, c.name, c.arguments) for c in called] == [
        ("call_1", "look_up", '{"n": 1}'),
        ("mine", "draw", "{}"),
    ]
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (100, 20)


@pytest.mark.parametrize("streams", [True, False])
async def test_the_client_reads_a_refusal(
    double: ProviderDouble, client: openai.AsyncOpenAI, streams: bool
) -> None:
    double.script = Script((Turn(refusal=("I can", "not."), usage=None),))

    found = await asked(client, streams=streams)

    [item] = found.output
    assert item.type == "message"
    assert [part.refusal for part in item.content if part.type == "refusal"] == ["I cannot."]
    assert found.usage is None


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("finish", "reason"),
    [(Finish.LENGTH, "max_output_tokens"), (Finish.WITHHELD, "content_filter")],
)
async def test_the_client_reads_why_an_answer_is_not_whole(
    double: ProviderDouble, client: openai.AsyncOpenAI, streams: bool, finish: Finish, reason: str
) -> None:
    double.script = Script((Turn(("so",), finish=finish),))

    found = await asked(client, streams=streams)

    assert found.status == "incomplete"
    assert found.incomplete_details is not None
    assert found.incomplete_details.reason == reason
