"""One model behind a server that speaks chat completions, well or badly."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_engine import (
    Delta,
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
from cogni_kernel import (
    Err,
    HumanText,
    ModelFacingText,
    Result,
    TaskClass,
    TimeoutError,
    UpstreamError,
    Usage,
)
from cogni_testing import err, ok
from cogni_testing.contracts.model import LOOK_UP, PASSAGE, QUESTION, ModelContract, asked

if TYPE_CHECKING:
    from tests.openai.conftest import Provider, Replies

MODEL = "gpt-4.1-2025-04-14"
THREAD = asked(QUESTION, PASSAGE)


@pytest.fixture
async def model(provider: "Provider") -> AsyncIterator[OpenAIChatAdapter]:
    adapter = OpenAIChatAdapter(MODEL, "key", provider.url, silence_s=5)
    yield adapter
    await adapter.close()


class TestOpenAIChat(ModelContract):
    @pytest.fixture(autouse=True)
    async def _bound(
        self, provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
    ) -> None:
        provider.replies = [replies.says("You get 20 weeks", " [s4]")]
        self.model = model

    def make_model(self) -> OpenAIChatAdapter:
        return self.model


async def complete(model: OpenAIChatAdapter) -> tuple[Result[Response], str]:
    emitter = Emitter(lambda _: None)
    return await model.complete(THREAD, (), emitter), emitter.text


async def test_an_answer_is_streamed_and_its_usage_read(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    usage = {"prompt_tokens": 40, "completion_tokens": 9}
    provider.replies = [replies.says("20 weeks", " [s4]", usage=usage)]
    heard: list[Delta] = []

    response = ok(await model.complete(THREAD, (), Emitter(heard.append)))

    assert response.text == "20 weeks [s4]"
    assert response.model_used == "served-1"
    assert Usage.from_provider(response.raw_usage, TaskClass.CONVERSATIONAL).total == 49
    assert heard


async def test_the_request_is_what_the_thread_says(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    provider.replies = [replies.says("ok")]
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

    [body] = provider.requests
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
    assert "authorization: bearer key" in provider.heads[0]


async def test_a_call_in_fragments_is_one_call(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    def fragment(arguments: str, **more: object) -> dict[str, object]:
        name = {"name": "look_up_request"} if more else {}
        call = {"index": 0, "id": "", **more, "function": {"arguments": arguments, **name}}
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    pieces = [fragment('{"refer', id="call_9"), fragment('ence": "REQ'), fragment('-4471"}'), end]
    provider.replies = [replies.chunks(pieces)]

    response = ok(await model.complete(THREAD, [LOOK_UP], None))

    expected = ToolCall("call_9", "look_up_request", '{"reference": "REQ-4471"}')
    assert response.tool_calls == (expected,)


async def test_characters_cut_by_the_network_come_out_whole(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    said = "二十週間 \U0001f469\u200d\U0001f52c"
    chunk = {"choices": [{"delta": {"content": said}, "finish_reason": "stop"}]}
    data = f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n".encode()
    provider.replies = [replies.chunks(data[n : n + 1] for n in range(len(data)))]

    result, shown = await complete(model)

    assert ok(result).text == shown == said


async def test_a_delta_of_a_megabyte_comes_through(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    provider.replies = [replies.says("é" * 600_000)]

    result, _ = await complete(model)

    assert len(ok(result).text) == 600_000


async def test_a_server_that_does_not_stream_is_understood(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    choice = {"message": {"content": "20 weeks"}, "finish_reason": "stop"}
    provider.replies = [replies.sends(json.dumps({"choices": [choice]}, indent=1).encode())]

    result, shown = await complete(model)

    assert ok(result).text == shown == "20 weeks"


async def test_a_server_that_cannot_report_usage_is_asked_without(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    refusal = replies.refuses(400, {"message": "Unknown parameter: stream_options"})
    provider.replies = [refusal, replies.says("ok")]

    first, _ = await complete(model)
    await complete(model)

    assert ok(first).raw_usage is None
    assert ["stream_options" in body for body in provider.requests] == [True, False, False]
    assert model.health() is HealthState.HEALTHY


@pytest.mark.parametrize("finish", ["cut", "closed"])
async def test_a_stream_that_breaks_off_is_a_failure_and_not_an_answer(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter, finish: str
) -> None:
    chunk: object = {"choices": [{"delta": {"content": "You get "}}]}
    half = [chunk, b'data: {"choices": [{"delta": {"content": "20 \xe4\xbc'][
        : 2 if finish == "cut" else 1
    ]
    provider.replies = [replies.chunks(half, done=False)]

    result, shown = await complete(model)

    assert err(result, UpstreamError).retryable
    assert shown == "You get "


@pytest.mark.parametrize("middle", [b'data: {"choices": \xff}\n\n', b"data: {not json}\n\n"])
async def test_a_chunk_that_cannot_be_read_costs_only_itself(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter, middle: bytes
) -> None:
    chunk: object = {"choices": [{"delta": {"content": "so "}, "finish_reason": "stop"}]}
    provider.replies = [replies.chunks([chunk, middle, chunk])]

    result, _ = await complete(model)

    assert ok(result).text == "so so "


@pytest.mark.parametrize(
    ("reason", "words"), [("length", "too long"), ("content_filter", "withheld")]
)
async def test_an_answer_that_was_not_let_finish_is_a_failure(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter, reason: str, words: str
) -> None:
    chunk: object = {"choices": [{"delta": {"content": "so "}, "finish_reason": reason}]}
    provider.replies = [replies.chunks([chunk])]

    result, _ = await complete(model)

    failure = err(result, UpstreamError)
    assert not failure.retryable
    assert words in str(failure.message)


async def test_an_error_in_the_middle_of_a_stream_is_a_failure(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    provider.replies = [replies.chunks([{"error": {"code": "overloaded", "message": "secret"}}])]

    result, _ = await complete(model)

    assert dict(err(result, UpstreamError).detail) == {"code": "overloaded"}


@pytest.mark.parametrize(
    ("status", "headers", "wait_s"),
    [
        (429, {"retry_after": "7"}, 7.0),
        (429, {"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        (429, {"retry_after": "soon"}, None),
        (500, {}, None),
        (503, {"retry_after": "2.5"}, 2.5),
        (400, {}, None),
        (401, {}, None),
        (404, {}, None),
    ],
)
async def test_a_refusal_says_whether_and_when_to_come_back(
    provider: "Provider",
    replies: "Replies",
    model: OpenAIChatAdapter,
    status: int,
    headers: dict[str, str],
    wait_s: float | None,
) -> None:
    provider.replies = [replies.refuses(status, {"message": "your text", "code": "c"}, **headers)]

    result, _ = await complete(model)

    failure = err(result, UpstreamError)
    assert failure.retryable is (status >= 429)
    assert failure.detail.get("retry_after_s") == wait_s
    assert failure.detail["status"] == status
    assert "your text" not in repr(failure)
    assert len(provider.requests) == 1


async def test_an_allowance_that_is_used_up_is_not_tried_again(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    provider.replies = [replies.refuses(429, {"code": "insufficient_quota"})]

    result, _ = await complete(model)

    assert not err(result, UpstreamError).retryable


@pytest.mark.parametrize("after", ["nothing", "some"])
async def test_a_provider_that_falls_silent_is_late(
    provider: "Provider", replies: "Replies", after: str
) -> None:
    chunk: object = {"choices": [{"delta": {"content": "You "}}]}
    silent = replies.chunks([chunk], done=False, hang=True)
    provider.replies = [replies.hangs if after == "nothing" else silent]
    model = OpenAIChatAdapter(MODEL, "key", provider.url, silence_s=0.2)

    result, _ = await complete(model)

    assert err(result, TimeoutError).retryable
    await model.close()


async def test_a_connection_that_is_closed_or_refused_is_a_failure(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    provider.replies = [replies.hangs_up]
    nowhere = OpenAIChatAdapter(MODEL, "key", "http://127.0.0.1:9/v1")

    for broken in (model, nowhere):
        result, _ = await complete(broken)
        assert err(result, UpstreamError).retryable
    await nowhere.close()


async def test_cancelling_closes_the_stream(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    chunk: object = {"choices": [{"delta": {"content": "You "}}]}
    provider.replies = [replies.chunks([chunk], done=False, hang=True)]
    heard = asyncio.Event()
    emitter = Emitter(lambda _: heard.set())
    call = asyncio.create_task(model.complete(THREAD, (), emitter))
    await heard.wait()

    call.cancel()
    await asyncio.wait([call])
    await asyncio.wait_for(provider.gone.wait(), 30)

    assert call.cancelled()


async def test_health_follows_the_last_calls(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    bad, good = replies.refuses(503), replies.says("ok")
    provider.replies = [good, bad, bad, bad, good, *[good] * 9]
    seen = []
    for _ in provider.replies:
        await complete(model)
        seen.append(model.health())

    assert seen[:5] == [
        HealthState.HEALTHY,
        HealthState.DEGRADED,
        HealthState.DEGRADED,
        HealthState.DOWN,
        HealthState.DEGRADED,
    ]
    assert seen[-1] is HealthState.HEALTHY


async def test_instructions_late_in_the_thread_stay_where_they_are(
    provider: "Provider", replies: "Replies", model: OpenAIChatAdapter
) -> None:
    provider.replies = [replies.says("ok")]
    passage = PassagePart("s1", "Page", "text")
    thread = [
        Message.user(HumanText("?")),
        Message.user((passage,), Origin.PASSAGES),
        Message.system(ModelFacingText("Last.")),
    ]

    result = await model.complete(thread, (), None)

    assert not isinstance(result, Err)
    assert provider.requests[0]["messages"][-1] == {"role": "system", "content": "Last."}
