"""The double in messages, seen by the vendor's own client."""

from collections.abc import AsyncIterator

import anthropic
import pytest
from anthropic.types import Message, MessageParam

from cogni_testing.providers import Finish, ProviderDouble, Script, ScriptedCall, Status, Turn

BOTH = Turn(
    ("One ", "moment, 休暇."),
    (ScriptedCall("look_up", ('{"n', '": 1}')), ScriptedCall("draw", (), "mine")),
)
QUESTION: MessageParam = {"role": "user", "content": "?"}


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    async with ProviderDouble([BOTH]) as found:
        yield found


@pytest.fixture
async def client(double: ProviderDouble) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        api_key="k", base_url=double.anthropic_url, max_retries=0
    ) as found:
        yield found


async def asked(client: anthropic.AsyncAnthropic, *, streams: bool) -> Message:
    """Return what the client's own types make of an answer."""
    if not streams:
        return await client.messages.create(model="m", max_tokens=9, messages=[QUESTION])
    async with client.messages.stream(model="m", max_tokens=9, messages=[QUESTION]) as stream:
        return await stream.get_final_message()


@pytest.mark.parametrize("streams", [True, False])
async def test_the_client_reads_text_and_calls(
    double: ProviderDouble, client: anthropic.AsyncAnthropic, streams: bool
) -> None:
    found = await asked(client, streams=streams)

    said, *called = found.content
    assert said.type == "text"
    assert said.text == "One moment, 休暇."
    assert [(c.id, c.name, c.input) for c in called if c.type == "tool_use"] == [
        ("call_1", "look_up", {"n": 1}),
        ("mine", "draw", {}),
    ]
    assert found.stop_reason == "tool_use"
    assert (found.usage.input_tokens, found.usage.output_tokens) == (100, 20)
    assert double.requests[0].headers["anthropic-version"]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (Turn(("so",)), "end_turn"),
        (Turn(("so",), finish=Finish.LENGTH), "max_tokens"),
        (Turn(refusal=("no", ".")), "refusal"),
    ],
)
async def test_the_client_reads_why_an_answer_is_over(
    double: ProviderDouble,
    client: anthropic.AsyncAnthropic,
    streams: bool,
    turn: Turn,
    reason: str,
) -> None:
    double.script = Script((turn,))

    assert (await asked(client, streams=streams)).stop_reason == reason


async def test_the_client_reads_an_error(
    double: ProviderDouble, client: anthropic.AsyncAnthropic
) -> None:
    double.script = Script((Turn(faults=(Status(429, {"retry-after": "7"}),)),))

    with pytest.raises(anthropic.RateLimitError) as refused:
        await asked(client, streams=True)

    assert refused.value.response.headers["retry-after"] == "7"
