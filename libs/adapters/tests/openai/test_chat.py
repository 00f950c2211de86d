"""What chat completions are asked, and what is taken of servers that say less or more."""

import json
from collections.abc import AsyncIterator

import pytest

from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_engine import (
    Emitter,
    HealthState,
    ImagePart,
    Message,
    Origin,
    PassagePart,
    Response,
    TextPart,
    ToolCall,
)
from cogni_kernel import HumanText, ModelFacingText, Result, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.model import LOOK_UP, PASSAGE, QUESTION, asked
from cogni_testing.providers import Document, ProviderDouble, Script, Status, Turn, says

MODEL = "gpt-4.1-2025-04-14"
THREAD = asked(QUESTION, PASSAGE)


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    async with ProviderDouble([says("ok")]) as found:
        yield found


@pytest.fixture
async def model(double: ProviderDouble) -> AsyncIterator[OpenAIChatAdapter]:
    adapter = OpenAIChatAdapter(MODEL, "key", double.base_url)
    yield adapter
    await adapter.close()


async def complete(model: OpenAIChatAdapter) -> tuple[Result[Response], str]:
    emitter = Emitter(lambda _: None)
    return await model.complete(THREAD, (), emitter), emitter.text


async def test_the_request_is_what_the_thread_says(
    double: ProviderDouble, model: OpenAIChatAdapter
) -> None:
    call = ToolCall("call_1", "look_up_request", '{"reference": "REQ-4471"}')
    thread = [
        *THREAD[:-1],
        Message.user((TextPart("This"), ImagePart("image/png", b"\x89PNG")), Origin.SUBJECT),
        Message.assistant("", (call,)),
        Message.tool(ModelFacingText("open"), "call_1"),
        Message.assistant("It is open."),
        THREAD[-1],
    ]

    ok(await model.complete(thread, [LOOK_UP], None))

    [request] = double.requests
    body = request.body
    assert body["model"] == MODEL
    assert body["stream_options"] == {"include_usage": True}
    roles = [m["role"] for m in body["messages"]]
    assert " ".join(roles) == "system user user user assistant tool assistant system"
    assert '<passage handle="s4"' in body["messages"][1]["content"]
    picture = body["messages"][3]["content"][1]["image_url"]["url"]
    assert picture == "data:image/png;base64,iVBORw=="
    assert body["messages"][4] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
        ],
    }
    assert body["messages"][5] == {"role": "tool", "content": "open", "tool_call_id": "call_1"}
    assert body["tools"][0]["function"]["name"] == "look_up_request"
    assert request.headers["authorization"] == "Bearer key"


async def test_instructions_late_in_the_thread_stay_where_they_are(
    double: ProviderDouble, model: OpenAIChatAdapter
) -> None:
    thread = [
        Message.user(HumanText("?")),
        Message.user((PassagePart("s1", "Page", "text"),), Origin.PASSAGES),
        Message.system(ModelFacingText("Last.")),
    ]

    ok(await model.complete(thread, (), None))

    last = double.requests[0].body["messages"][-1]
    assert last == {"role": "system", "content": "Last."}


async def test_a_document_in_several_lines_is_understood(
    double: ProviderDouble, model: OpenAIChatAdapter
) -> None:
    choice = {"message": {"content": "20 weeks"}, "finish_reason": "stop"}
    data = json.dumps({"choices": [choice]}, indent=1).encode()
    double.script = Script((Turn(faults=(Document(data),)),))

    result, shown = await complete(model)

    assert ok(result).text == shown == "20 weeks"


async def test_a_server_that_cannot_report_usage_is_asked_without(
    double: ProviderDouble, model: OpenAIChatAdapter
) -> None:
    refusal = Turn(faults=(Status(400, message="Unknown parameter: stream_options"),))
    double.script = Script((refusal, Turn(("ok",), usage=None)))

    first, _ = await complete(model)
    await complete(model)

    assert ok(first).raw_usage is None
    asked_usage = ["stream_options" in request.body for request in double.requests]
    assert asked_usage == [True, False, False]
    assert model.health() is HealthState.HEALTHY


@pytest.mark.parametrize(
    ("code", "words"), [("insufficient_quota", "used up"), ("rate_limit_exceeded", "busy")]
)
async def test_an_allowance_that_is_used_up_is_not_tried_again(
    double: ProviderDouble, model: OpenAIChatAdapter, code: str, words: str
) -> None:
    double.script = Script((Turn(faults=(Status(429, code=code),)),))

    result, _ = await complete(model)

    failure = err(result, UpstreamError)
    assert failure.retryable is (code == "rate_limit_exceeded")
    assert words in str(failure.message)
