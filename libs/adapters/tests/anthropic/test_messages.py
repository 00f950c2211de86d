"""What Anthropic's messages are asked, and what is taken of servers that say less or more."""

import json
from collections.abc import Mapping, Sequence

import pytest

from cogni_adapters.anthropic.events import MessagesEvents
from cogni_adapters.anthropic.messages import MAX_TOKENS, AnthropicAdapter
from cogni_adapters.anthropic.wire import to_body
from cogni_domain.providers.failures import not_an_answer
from cogni_domain.providers.translating import Event, TranslatingParser
from cogni_engine import ImagePart, Message, Origin, TextPart, ToolCall
from cogni_kernel import (
    DefinitionError,
    HumanText,
    ModelFacingText,
    TaskClass,
    UpstreamError,
    Usage,
)
from cogni_testing import err, ok
from cogni_testing.contracts.model import INSTRUCTION, LOOK_UP, PASSAGE, QUESTION, SAFETY, asked
from cogni_testing.providers import ProviderDouble, Status, Turn, says

MODEL = "claude-sonnet-4-6"
THREAD = asked(QUESTION, PASSAGE)


def called(*names: str, arguments: str = '{"reference": "REQ-4471"}') -> Message:
    calls = tuple(ToolCall(name, "look_up_request", arguments) for name in names)
    return Message.assistant("", calls)


def answered(name: str, text: str = "open") -> Message:
    return Message.tool(ModelFacingText(text), name)


def turns(*messages: Message) -> list[Mapping[str, object]]:
    found = to_body(MODEL, messages, (), 100)["messages"]
    assert isinstance(found, list)
    return found


def blocks(*messages: Message) -> list[tuple[str, list[dict[str, object]]]]:
    found = []
    for turn in turns(*messages):
        assert isinstance(turn["content"], list)
        found.append((str(turn["role"]), turn["content"]))
    return found


def read(events: Sequence[Event]) -> TranslatingParser:
    parser = TranslatingParser(MessagesEvents())
    for event in events:
        parser.parse(event)
    return parser


def test_system_text_stands_apart_in_its_order() -> None:
    body = to_body(MODEL, THREAD, (), MAX_TOKENS)

    assert body["system"] == [
        {"type": "text", "text": INSTRUCTION.text},
        {"type": "text", "text": SAFETY.text},
    ]
    assert [turn["role"] for turn in turns(*THREAD)] == ["user"]
    assert body["max_tokens"] == MAX_TOKENS
    assert "tools" not in body


def test_a_thread_without_instructions_sends_none() -> None:
    assert "system" not in to_body(MODEL, [Message.user(HumanText("?"))], (), 100)


def test_tools_are_described_by_their_input() -> None:
    wire = LOOK_UP.to_wire()

    assert to_body(MODEL, THREAD, [LOOK_UP], 100)["tools"] == [
        {
            "name": "look_up_request",
            "description": str(LOOK_UP.description),
            "input_schema": wire["parameters"],
        }
    ]


def test_the_answers_to_all_calls_are_one_message_by_their_ids() -> None:
    found = blocks(
        Message.user(HumanText("?")),
        called("one", "two"),
        answered("one"),
        answered("two", ""),
        Message.user(HumanText("and?")),
    )

    assert [role for role, _ in found] == ["user", "assistant", "user"]
    assert [block["id"] for block in found[1][1]] == ["one", "two"]
    assert found[2][1] == [
        {"type": "tool_result", "tool_use_id": "one", "content": "open"},
        {"type": "tool_result", "tool_use_id": "two"},
        {"type": "text", "text": "and?"},
    ]


@pytest.mark.parametrize("name", ["call:1", "a.b", "休", "toolu_1"])
def test_an_id_of_another_provider_is_written_in_letters_that_are_taken(name: str) -> None:
    found = blocks(Message.user(HumanText("?")), called(name), answered(name))

    assert found[1][1][0]["id"] == found[2][1][0]["tool_use_id"]
    assert str(found[1][1][0]["id"]).replace("_", "").isascii()


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"n": 1}', {"n": 1}),
        ("", {}),
        ("{not json", {"not_an_object": "{not json"}),
        ("[1]", {"not_an_object": "[1]"}),
        ("[" * 100_000, {"not_an_object": "[" * 100_000}),
    ],
)
def test_arguments_are_an_object_and_never_repaired(arguments: str, sent: object) -> None:
    found = blocks(Message.user(HumanText("?")), called("one", arguments=arguments))

    assert found[1][1][0]["input"] == sent


def test_pictures_stand_beside_the_text_as_data() -> None:
    parts = (TextPart("This"), ImagePart("image/png", b"\x89PNG"))

    [(_, content)] = blocks(Message.user(parts, Origin.SUBJECT))

    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert content == [{"type": "text", "text": "This"}, {"type": "image", "source": source}]


def test_a_message_without_a_word_is_not_sent() -> None:
    found = turns(
        Message.user(HumanText("?")), Message.assistant(" \n"), Message.user(HumanText("!"))
    )

    assert [turn["role"] for turn in found] == ["user"]


def test_a_floating_model_is_refused() -> None:
    with pytest.raises(DefinitionError, match="name one version"):
        AnthropicAdapter("claude-sonnet-4-5", "key")


async def test_the_request_carries_the_key_and_the_version_of_the_wire() -> None:
    async with ProviderDouble([says("ok")]) as double:
        model = AnthropicAdapter(MODEL, "key", double.anthropic_url)
        ok(await model.complete(THREAD, (), None))
        await model.close()

    [request] = double.requests
    assert request.headers["authorization"] == "Bearer key"
    assert request.headers["anthropic-version"]
    assert (request.body["model"], request.body["stream"]) == (MODEL, True)


async def test_an_allowance_that_is_used_up_is_not_tried_again() -> None:
    async with ProviderDouble([Turn(faults=(Status(402, code="billing_error"),))]) as double:
        model = AnthropicAdapter(MODEL, "key", double.anthropic_url)
        error = err(await model.complete(THREAD, (), None), UpstreamError)
        await model.close()

    assert not error.retryable


def test_what_was_read_from_the_cache_was_read() -> None:
    used = {"input_tokens": 3, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}
    parser = read(
        [
            {
                "type": "message_start",
                "message": {"model": MODEL, "usage": {**used, "output_tokens": 1}},
            },
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 9},
            },
        ]
    )

    usage = Usage.from_provider(parser.usage, TaskClass.CONVERSATIONAL)
    assert (usage.input, usage.output) == (100, 9)


def test_usage_that_no_end_completes_is_absent() -> None:
    start = {"model": MODEL, "usage": {"input_tokens": 3, "output_tokens": 1}}
    parser = read(
        [
            {"type": "message_start", "message": start},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ]
    )

    assert Usage.from_provider(parser.usage, TaskClass.CONVERSATIONAL).is_absent


def test_arguments_that_came_when_the_call_began_are_taken_once() -> None:
    block = {"type": "tool_use", "id": "a", "name": "look_up", "input": {"n": 1}}
    begun: Event = {"type": "content_block_start", "index": 0, "content_block": block}
    stop: Event = {"type": "content_block_stop", "index": 0}

    [call] = read([begun, stop, stop]).tool_calls

    assert json.loads(call.arguments) == {"n": 1}


def test_two_texts_around_a_call_are_paragraphs_and_thoughts_are_not_said() -> None:
    def text(index: int) -> list[Event]:
        delta = {"type": "text_delta", "text": "so"}
        return [
            {"type": "content_block_start", "index": index, "content_block": {"type": "text"}},
            {"type": "content_block_delta", "index": index, "delta": delta},
        ]

    thinking: list[Event] = [
        {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking"}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "thinking_delta", "thinking": "secret"},
        },
    ]

    assert read([*text(0), *thinking, *text(2)]).text == "so\n\nso"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
    ],
)
def test_the_end_says_why_it_is_one(reason: str, finish: str) -> None:
    parser = read([{"type": "message_delta", "delta": {"stop_reason": reason}}])

    assert parser.finish_reason == finish


def test_an_error_in_the_stream_says_whether_to_ask_again() -> None:
    busy = not_an_answer(read([{"type": "error", "error": {"type": "overloaded_error"}}]))
    wrong = not_an_answer(read([{"type": "error", "error": {"type": "invalid_request_error"}}]))

    assert busy is not None
    assert wrong is not None
    assert (busy.retryable, wrong.retryable) == (True, False)
