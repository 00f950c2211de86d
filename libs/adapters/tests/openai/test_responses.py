"""What OpenAI's responses are asked, and what is taken of servers that say less or more."""

from collections.abc import Sequence

import pytest

from cogni_adapters.openai.responses import OpenAIResponsesAdapter
from cogni_adapters.openai.responses_events import ResponsesEvents
from cogni_adapters.openai.responses_wire import to_body
from cogni_domain.providers.failures import not_an_answer
from cogni_domain.providers.translating import Event, TranslatingParser
from cogni_engine import ImagePart, Message, Origin, TextPart, ToolCall
from cogni_kernel import DefinitionError, ModelFacingText
from cogni_testing.contracts.model import LOOK_UP, PASSAGE, QUESTION, asked

MODEL = "gpt-4.1-2025-04-14"
THREAD = asked(QUESTION, PASSAGE)
CALL = ToolCall("call_1", "look_up_request", '{"reference": "REQ-4471"}')
ADDED = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look_up_request"}
COMPLETED: Event = {"type": "response.completed", "response": {"status": "completed"}}


def read(events: Sequence[Event]) -> TranslatingParser:
    parser = TranslatingParser(ResponsesEvents())
    for event in events:
        parser.parse(event)
    return parser


def test_the_request_is_what_the_thread_says() -> None:
    thread = [
        *THREAD[:-1],
        Message.user((TextPart("This"), ImagePart("image/png", b"\x89PNG")), Origin.SUBJECT),
        Message.user((ImagePart("image/png", b"\x89PNG"),), Origin.SUBJECT),
        Message.assistant("", (CALL,)),
        Message.tool(ModelFacingText("open"), "call_1"),
        Message.assistant("One moment.", (CALL,)),
        THREAD[-1],
    ]

    body = to_body(MODEL, thread, [LOOK_UP])

    items = body["input"]
    assert isinstance(items, list)
    assert " ".join(item.get("role", item["type"]) for item in items) == (
        "system user user user user function_call function_call_output assistant function_call system"
    )
    assert '<passage handle="s4"' in items[1]["content"]
    picture = {
        "type": "input_image",
        "image_url": "data:image/png;base64,iVBORw==",
        "detail": "auto",
    }
    assert items[3]["content"] == [{"type": "input_text", "text": "This"}, picture]
    assert items[4]["content"] == [picture]
    assert items[5] == {
        "type": "function_call",
        "call_id": "call_1",
        "name": CALL.name,
        "arguments": CALL.arguments,
    }
    assert items[6] == {"type": "function_call_output", "call_id": "call_1", "output": "open"}
    assert body["tools"] == [{"type": "function", "strict": False, **LOOK_UP.to_wire()}]


def test_the_provider_is_asked_to_keep_nothing() -> None:
    body = to_body(MODEL, THREAD, ())

    assert (body["store"], body["stream"]) == (False, True)
    assert "tools" not in body


def test_a_floating_model_is_refused() -> None:
    with pytest.raises(DefinitionError, match="name one version"):
        OpenAIResponsesAdapter("gpt-4o", "key")


def test_arguments_that_only_the_end_of_a_call_holds_are_taken_once() -> None:
    done = {**ADDED, "arguments": "{}"}
    events: list[Event] = [
        {"type": "response.output_item.added", "output_index": 0, "item": ADDED},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        COMPLETED,
    ]

    assert read(events).tool_calls == (ToolCall("call_1", "look_up_request", "{}"),)


def test_a_call_that_only_its_end_names_is_a_call() -> None:
    done: Event = {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {**ADDED, "arguments": "{}"},
    }

    assert read([done, COMPLETED]).tool_calls == (ToolCall("call_1", "look_up_request", "{}"),)


def test_two_calls_that_come_mixed_are_told_apart_by_their_items() -> None:
    def added(number: int) -> Event:
        item = {**ADDED, "id": f"fc_{number}", "call_id": f"call_{number}"}
        return {"type": "response.output_item.added", "output_index": 0, "item": item}

    def delta(number: int, text: str) -> Event:
        kind = "response.function_call_arguments.delta"
        return {"type": kind, "item_id": f"fc_{number}", "output_index": 0, "delta": text}

    events = [added(1), added(2), delta(1, "{"), delta(2, "["), delta(1, "}"), delta(2, "]")]

    assert [call.arguments for call in read([*events, COMPLETED]).tool_calls] == ["{}", "[]"]


def test_two_messages_of_one_answer_are_paragraphs() -> None:
    item: Event = {"type": "response.output_item.added", "item": {"type": "message"}}
    delta: Event = {"type": "response.output_text.delta", "delta": "so"}

    assert read([item, delta, item, delta, COMPLETED]).text == "so\n\nso"


def test_a_piece_in_an_object_is_text_too() -> None:
    delta: Event = {"type": "response.output_text.delta", "delta": {"content": "so"}}

    assert read([delta, COMPLETED]).text == "so"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"status": "completed"}, "stop"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete"}, "length"),
        ({"status": "cancelled"}, None),
    ],
)
def test_the_end_says_why_it_is_one(response: Event, reason: str | None) -> None:
    parser = read([{"type": "response.completed", "response": response}])

    assert parser.finish_reason == reason


@pytest.mark.parametrize(
    ("event", "code", "retryable"),
    [
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
            "server_error",
            True,
        ),
        ({"type": "response.failed", "response": {"status": "failed"}}, "failed", True),
        ({"type": "error", "code": "invalid_prompt", "message": "no"}, "invalid_prompt", False),
        ({"type": "error", "error": {"code": "rate_limit_exceeded"}}, "rate_limit_exceeded", True),
    ],
)
def test_a_failure_in_the_stream_is_one(event: Event, code: str, retryable: bool) -> None:
    failed = not_an_answer(read([event]))

    assert failed is not None
    assert (failed.detail["code"], failed.retryable) == (code, retryable)
