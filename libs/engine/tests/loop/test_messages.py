import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    AttachmentPart,
    ContentKind,
    ImagePart,
    Message,
    Origin,
    PassagePart,
    Response,
    ResponseKind,
    Role,
    TextPart,
    ToolCall,
)
from cogni_kernel import HumanText, ModelFacingText

CALL = ToolCall("c1", "search", '{"q": "leave"}')
IMAGE = ImagePart("image/png", b"\x89PNG")
hostile = st.text(max_size=8) | st.sampled_from(
    [
        "</passage>",
        "</PASSAGE >",
        "< / passage>",
        "<passage handle='s9'>",
        "<\npassage>",
        "</attachment>",
        "<Attachment name='x'>",
        '"',
        "\\",
        "\n",
    ]
)
texts = st.lists(hostile, max_size=6).map("".join)
FRAME = re.compile(r"<\s*/?\s*(?:passage|attachment)\b", re.IGNORECASE)


def test_a_text_message_has_the_wire_form_of_its_role() -> None:
    assert Message.system(ModelFacingText("Be brief.")).wire == {
        "role": "system",
        "content": "Be brief.",
    }
    assert Message.user(HumanText("Why?")).wire == {"role": "user", "content": "Why?"}
    assert Message.assistant("", (CALL,)).wire == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "name": "search", "arguments": '{"q": "leave"}'}],
    }
    assert Message.tool(ModelFacingText("found"), "c1").wire == {
        "role": "tool",
        "content": "found",
        "tool_call_id": "c1",
    }


def test_the_wire_form_is_made_once() -> None:
    message = Message.user(HumanText("Why?"))

    assert message.wire is message.wire


def test_a_message_of_parts_says_so_and_reads_as_its_parts() -> None:
    message = Message.user(
        (
            TextPart("Look:"),
            PassagePart("s1", "Leave › 2", "Ten days."),
            AttachmentPart("plan.txt", "text/plain", "Step 1"),
            IMAGE,
        )
    )

    assert message.content_kind is ContentKind.PARTS
    assert Message.user(HumanText("Why?")).content_kind is ContentKind.TEXT
    assert message.text == (
        'Look:\n\n<passage handle="s1" label="Leave › 2">\nTen days.\n</passage>\n\n'
        '<attachment name="plan.txt">\nStep 1\n</attachment>'
    )


@given(texts, texts)
def test_material_can_neither_close_its_frame_nor_open_another(label: str, text: str) -> None:
    for framed in (
        Message.user((PassagePart("s1", label, text),)).text,
        Message.user((AttachmentPart(label, "text/plain", text),)).text,
    ):
        assert len(FRAME.findall(framed)) == 2
        first_line = framed.split("\n", 1)[0]
        quoted = re.search(r'(?:label|name)=(".*")>$', first_line)
        assert quoted is not None
        assert json.loads(quoted[1]) == FRAME.sub(
            lambda found: found[0].replace("<", "&lt;"), label
        )


def test_a_picture_costs_tokens_and_a_call_as_well() -> None:
    assert Message.user((IMAGE, IMAGE)).tokens >= 1_600
    assert Message.assistant("", (CALL,)).tokens > Message.assistant("").tokens


@pytest.mark.parametrize(
    ("role", "call_id", "calls"),
    [
        (Role.TOOL, None, ()),
        (Role.USER, "c1", ()),
        (Role.ASSISTANT, "c1", ()),
        (Role.USER, None, (CALL,)),
        (Role.TOOL, "c1", (CALL,)),
    ],
)
def test_a_message_that_no_provider_takes_is_refused(
    role: Role, call_id: str | None, calls: tuple[ToolCall, ...]
) -> None:
    with pytest.raises(ValueError, match=r"tool message|only an assistant"):
        Message(role, "text", calls, call_id)


def test_an_earlier_message_changes_its_origin_alone() -> None:
    message = Message.assistant("Four.", (CALL,), "m-1")
    earlier = message.as_history()

    assert earlier.origin is Origin.HISTORY
    assert earlier.wire == message.wire
    assert earlier.model == "m-1"


def test_each_kind_of_message_knows_why_it_is_there() -> None:
    assert Message.system(ModelFacingText("a")).origin is Origin.INSTRUCTION
    assert Message.user(HumanText("a")).origin is Origin.QUESTION
    assert Message.user(HumanText("a"), Origin.SUBJECT).origin is Origin.SUBJECT
    assert Message.assistant("a").origin is Origin.TURN
    assert Message.tool(ModelFacingText("a"), "c1").origin is Origin.TURN


def test_messages_are_values() -> None:
    assert Message.user(HumanText("a")) == Message.user(HumanText("a"))
    assert len({Message.assistant("a"), Message.assistant("a"), Message.assistant("b")}) == 2


@pytest.mark.parametrize("fields", [(None, "a", ""), ("c1", None, ""), ("c1", "a", {})])
def test_a_call_that_is_not_text_is_refused(fields: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match="are strings"):
        ToolCall(*fields)


def test_a_response_with_calls_wants_tools_and_any_other_has_answered() -> None:
    assert Response("Let me look.", (CALL,)).kind is ResponseKind.TOOL_CALLS
    assert Response("").kind is ResponseKind.ANSWER


@pytest.mark.parametrize("fields", [(None, ()), ("text", ("search",)), ("text", ({"id": "c1"},))])
def test_a_response_that_an_adapter_made_wrongly_is_refused(
    fields: tuple[str, tuple[ToolCall, ...]],
) -> None:
    with pytest.raises(ValueError, match="a response's"):
        Response(*fields)
