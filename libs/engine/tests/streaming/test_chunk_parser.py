"""One answer, whatever the network and the provider make of it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogni_engine import ChunkParser, ToolCall
from cogni_engine.streaming import event_lines


def chunk(delta: Mapping[str, object], **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more}


def text(content: object) -> dict[str, object]:
    return chunk({"content": content})


def fragment(index: int | None, arguments: object = "", **more: object) -> dict[str, object]:
    function: dict[str, object] = {"arguments": arguments}
    if "name" in more:
        function["name"] = more.pop("name")
    call = {**({} if index is None else {"index": index}), "function": function, **more}
    return chunk({"tool_calls": [call]})


END: dict[str, object] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def stream(chunks: Iterable[object], end: str = "\n", *, ascii_only: bool = False) -> bytes:
    lines = [f"data: {json.dumps(c, ensure_ascii=ascii_only)}{end}{end}" for c in chunks]
    return ("".join(lines) + f"data: [DONE]{end}{end}").encode("utf-8", "surrogatepass")


def read(pieces: Iterable[bytes]) -> tuple[ChunkParser, str]:
    parser = ChunkParser()
    said = "".join([*map(parser.feed, pieces), parser.finish()])
    return parser, said


def result(parser: ChunkParser) -> tuple[Any, ...]:
    return (
        parser.text,
        parser.tool_calls,
        parser.usage,
        parser.model,
        parser.finish_reason,
        parser.is_whole,
        parser.problems,
    )


def cut(whole: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(p % (len(whole) + 1) for p in places), len(whole)]
    return [whole[a:b] for a, b in pairwise(edges)]


CHUNKS: list[object] = [
    chunk({"role": "assistant", "content": ""}, model="m-2026-01-01"),
    text("Grüße, 休暇は"),
    text("二十週間 \U0001f469\u200d\U0001f52c"),
    text("\u2028 a line\r\nand another"),
    fragment(0, "", id="call_a", name="look_up", type="function"),
    fragment(1, '{"n', id="call_b", name="draw"),
    fragment(0, '{"reference": "REQ', id=""),
    fragment(1, '": 1}', id=None),
    fragment(0, '-ü"}'),
    END,
    {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 7}},
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@given(places=st.lists(st.integers(0, 10_000), max_size=12))
def test_every_cut_of_the_bytes_gives_the_same_answer(end: str, places: list[int]) -> None:
    whole = stream(CHUNKS, end)

    parser, said = read(cut(whole, places))

    assert result(parser) == result(read([whole])[0])
    assert said == parser.text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_by_byte_nothing_is_lost(end: str) -> None:
    whole = stream(CHUNKS, end)

    parser, said = read(whole[n : n + 1] for n in range(len(whole)))

    assert said == "Grüße, 休暇は二十週間 \U0001f469\u200d\U0001f52c\u2028 a line\r\nand another"
    assert parser.tool_calls == (
        ToolCall("call_a", "look_up", '{"reference": "REQ-ü"}'),
        ToolCall("call_b", "draw", '{"n": 1}'),
    )
    assert parser.usage == {"prompt_tokens": 12, "completion_tokens": 7}
    assert (parser.model, parser.finish_reason, parser.problems) == ("m-2026-01-01", "stop", [])


@given(st.text(max_size=40), st.lists(st.integers(0, 10_000), max_size=8), st.booleans())
def test_any_text_comes_through_whole(said: str, places: list[int], ascii_only: bool) -> None:
    parser, shown = read(cut(stream([text(said), END], ascii_only=ascii_only), places))

    assert shown == parser.text == said
    assert parser.problems == []


@settings(max_examples=60)
@given(
    st.text(max_size=30),
    st.lists(st.integers(0, 60), max_size=6),
    st.sampled_from([{}, {"id": ""}, {"id": None}, {"id": "call_1"}]),
    st.booleans(),
)
def test_any_fragmenting_of_a_call_gives_one_call(
    value: str, places: list[int], later: dict[str, object], name_again: bool
) -> None:
    arguments = json.dumps({"question": value})
    edges = [0, *sorted(p % (len(arguments) + 1) for p in places), len(arguments)]
    pieces = [arguments[a:b] for a, b in pairwise(edges)]
    named = {"name": "search"} if name_again else {}
    rest = [fragment(0, piece, **later, **named) for piece in pieces[1:]]

    parser, _ = read([stream([fragment(0, pieces[0], id="call_1", name="search"), *rest, END])])

    assert parser.tool_calls == (ToolCall("call_1", "search", arguments),)


@given(st.permutations([0, 0, 0, 1, 1, 2]))
def test_calls_that_come_interleaved_are_kept_apart(order: list[int]) -> None:
    first: set[int] = set()
    chunks = []
    for index in order:
        more = {} if index in first else {"id": f"call_{index}", "name": f"tool_{index}"}
        first.add(index)
        chunks.append(fragment(index, str(index), **more))

    parser, _ = read([stream([*chunks, END])])

    assert {(c.id, c.name, c.arguments) for c in parser.tool_calls} == {
        ("call_0", "tool_0", "000"),
        ("call_1", "tool_1", "11"),
        ("call_2", "tool_2", "2"),
    }


@pytest.mark.parametrize("index", [None, 0])
def test_servers_that_do_not_count_still_give_two_calls(index: int | None) -> None:
    chunks = [
        fragment(index, '{"a": 1}', id="x", name="one"),
        fragment(index, '{"b"', id="y", name="two"),
        fragment(index, ": 2}"),
    ]

    parser, _ = read([stream([*chunks, END])])

    assert parser.tool_calls == (
        ToolCall("x", "one", '{"a": 1}'),
        ToolCall("y", "two", '{"b": 2}'),
    )


def test_servers_that_give_neither_ids_nor_indices_still_give_two_calls() -> None:
    chunks = [
        fragment(0, '{"a": 1}', name="one"),
        fragment(0, '{"b"', name="two"),
        fragment(0, ": 2}", name="two"),
    ]

    parser, _ = read([stream([*chunks, END])])

    assert [(c.name, c.arguments) for c in parser.tool_calls] == [
        ("one", '{"a": 1}'),
        ("two", '{"b": 2}'),
    ]


def test_an_index_that_is_no_number_counts_as_none() -> None:
    chunks = [
        fragment(0, '{"a"', id="x", name="one"),
        {"choices": [{"index": float("nan"), "delta": {"content": "so"}}]},
    ]
    not_a_number = stream([fragment(0, ": 1}")]).replace(
        b'"index": 0, "function"', b'"index": NaN, "function"'
    )

    parser, said = read([stream(chunks)[: -len(b"data: [DONE]\n\n")], not_a_number])

    assert said == "so"
    assert parser.tool_calls == (ToolCall("x", "one", '{"a": 1}'),)
    assert not parser.is_doubtful


def test_a_name_that_comes_in_pieces_is_put_together() -> None:
    chunks = [fragment(0, id="x", name="look_"), fragment(0, name="up")]

    parser, _ = read([stream([*chunks, END])])

    assert [c.name for c in parser.tool_calls] == ["look_up"]


def test_calls_without_ids_are_given_their_own() -> None:
    chunks = [fragment(n, "{}", name="search", **more) for n, more in enumerate(({}, {"id": ""}))]

    taken = [
        fragment(n, "{}", id=name, name="search") for n, name in ((2, "call_0"), (3, "call_4"))
    ]
    taken.append(fragment(4, "{}", name="search"))

    parser, _ = read([stream([*chunks, *taken, END])])

    ids = [c.id for c in parser.tool_calls]
    assert len(set(ids)) == 5
    assert all(ids)


def test_an_object_instead_of_argument_text_is_written_as_json() -> None:
    parser, _ = read([stream([fragment(0, {"q": "leave"}, id="x", name="search"), END])])

    assert json.loads(parser.tool_calls[0].arguments) == {"q": "leave"}


def test_a_call_without_a_name_is_left_out_and_described() -> None:
    parser, _ = read([stream([fragment(0, "{}", id="x"), text("So."), END])])

    assert parser.tool_calls == ()
    assert parser.problems == ["a tool call without a name"]


@pytest.mark.parametrize(
    ("records", "kept"),
    [
        ([], None),
        ([None], None),
        ([{"prompt_tokens": 3, "completion_tokens": 1}, None], (3, 1)),
        ([None, {"prompt_tokens": 3, "completion_tokens": 1}], (3, 1)),
        (
            [
                {"prompt_tokens": 0, "completion_tokens": 0},
                {"prompt_tokens": 3, "completion_tokens": 1},
            ],
            (3, 1),
        ),
        (
            [
                {"prompt_tokens": 3, "completion_tokens": 1},
                {"prompt_tokens": 0, "completion_tokens": 0},
            ],
            (3, 1),
        ),
        (
            [
                {"prompt_tokens": 3, "completion_tokens": 1},
                {"prompt_tokens": 3, "completion_tokens": 9},
            ],
            (3, 9),
        ),
    ],
)
def test_the_newest_usage_that_says_something_counts(
    records: list[object], kept: tuple[int, int] | None
) -> None:
    parser, _ = read([stream([text("So."), *({"choices": [], "usage": r} for r in records)])])

    usage = parser.usage
    assert (usage and (usage["prompt_tokens"], usage["completion_tokens"])) == kept


def test_a_stream_that_was_cut_is_not_whole_and_has_no_usage() -> None:
    whole = stream([text("Twenty "), text("weeks."), END])

    for length in range(len(whole) - len(b"data: [DONE]\n\n") - 10):
        parser, _ = read([whole[:length]])
        if parser.finish_reason is None:
            assert not parser.is_whole
            assert parser.usage is None


def test_a_character_cut_at_the_end_is_described_and_never_a_glyph() -> None:
    whole = stream([text("so"), text("休")])
    cut_inside = whole[: whole.rindex("休".encode()) + 1]

    parser, said = read([cut_inside])

    assert said == "so"
    assert not parser.is_whole
    assert len(parser.problems) == 1


def test_halves_of_a_pair_in_two_chunks_make_one_character() -> None:
    chunks = [text("a \ud83d"), text("\ude00 b"), END]

    parser, said = read([stream(chunks, ascii_only=True)])

    assert said == parser.text == "a \U0001f600 b"


def test_half_a_pair_that_stays_alone_is_described() -> None:
    parser, said = read([stream([text("a \ud83d"), END], ascii_only=True)])

    assert said == "a "
    assert parser.problems == ["half a character at the end"]


@pytest.mark.parametrize(
    "broken",
    [
        b"data: {not json}\n\n",
        b"data: [1, 2]\n\n",
        b'data: "text"\n\n',
        b"data: null\n\n",
        b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n',
        b"data: " + b"[" * 200_000 + b"\n\n",
        b"data:\n\n",
    ],
)
def test_a_chunk_that_cannot_be_read_is_described_and_the_rest_is_kept(broken: bytes) -> None:
    parser, said = read(
        [stream([text("one ")])[: -len(b"data: [DONE]\n\n")], broken, stream([text("two"), END])]
    )

    assert said == "one two"
    assert len(parser.problems) == 1
    assert parser.is_whole


BROKEN = (
    b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "0\xff'
)
BEGUN = fragment(0, '{"percent": 1', id="x", name="raise_pay")


def test_a_call_of_which_a_piece_was_lost_is_doubtful_though_its_arguments_are_valid() -> None:
    whole = stream([BEGUN])[: -len(b"data: [DONE]\n\n")]

    parser, _ = read([whole, BROKEN, b'"}}]}}]}\n\n', stream([fragment(0, "}"), END])])

    assert parser.tool_calls == (ToolCall("x", "raise_pay", '{"percent": 1}'),)
    assert parser.is_doubtful


@pytest.mark.parametrize(
    ("others", "is_doubtful"),
    [([text("So.")], False), ([], True), ([fragment(3, "{}")], True), ([BEGUN], True)],
)
def test_a_lost_chunk_is_doubted_where_it_may_change_what_is_done(
    others: list[dict[str, object]], is_doubtful: bool
) -> None:
    parser, _ = read([BROKEN, b"\n\n", stream([*others, END])])

    assert parser.is_doubtful is is_doubtful


def test_a_fragment_of_no_known_call_is_a_lost_beginning() -> None:
    parser, _ = read([stream([BEGUN, fragment(0, "}"), fragment(4, '{"n": 1}'), END])])

    assert [c.name for c in parser.tool_calls] == ["raise_pay"]
    assert parser.is_doubtful


def test_arguments_too_deep_to_be_written_are_described() -> None:
    for depth in range(200, 1_100):
        nested = '{"a":' * depth + "1" + "}" * depth
        data = f"data: {json.dumps(fragment(0, 'HERE', id='x', name='one'))}\n\n".encode()
        parser, _ = read([data.replace(b'"HERE"', nested.encode())])
        assert parser.is_doubtful or len(parser.tool_calls) == 1


def test_half_a_pair_in_a_name_can_be_stored() -> None:
    half = "\ud83d"
    chunks = [
        chunk({}, model=half),
        fragment(0, half, id=half, name=half),
        {"error": {"code": half, "status": 3}},
        {"choices": [{"finish_reason": half}]},
    ]

    parser, _ = read([stream(chunks, ascii_only=True)])

    [call] = parser.tool_calls
    kept = (call.id, call.name, call.arguments, parser.model, parser.finish_reason)
    assert kept == ("\ufffd",) * 5
    assert parser.error == {"code": "\ufffd", "status": 3}


@pytest.mark.parametrize("role", ["system", "user", "tool", "developer", 7, None])
def test_nobody_else_can_speak_in_an_answer(role: object) -> None:
    chunks = [text("one "), chunk({"role": role, "content": "two"}), END]

    parser, said = read([stream(chunks)])

    assert said == parser.text == "one two"


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": "text"}]},
        {"choices": [{"delta": {"content": 7}}]},
        {"choices": [{"delta": {"content": [7, {"text": 7}]}}]},
        {"choices": [{"delta": {"tool_calls": {"index": 0}}}]},
        {"choices": [{"delta": {"tool_calls": [None, 3]}}]},
        {"choices": [], "usage": 7, "model": 7, "error": "text"},
    ],
)
def test_odd_chunks_say_nothing_and_break_nothing(odd: dict[str, object]) -> None:
    parser, said = read([stream([text("one "), odd, text("two"), END])])

    assert said == "one two"
    assert parser.tool_calls == ()
    assert (parser.model, parser.usage, parser.error) == ("", None, None)


def test_content_may_come_as_parts_and_a_refusal_is_text() -> None:
    parts = [{"type": "text", "text": "I "}, {"type": "text", "text": "will "}]

    _, said = read([stream([text(parts), chunk({"refusal": "not do that."}), END])])

    assert said == "I will not do that."


def test_a_whole_message_is_read_like_a_stream_of_one() -> None:
    call = {"id": "x", "function": {"name": "search", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Looking.", "tool_calls": [call]}

    parser = ChunkParser()
    said = parser.parse(
        {
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        }
    )

    assert said == "Looking."
    assert parser.tool_calls == (ToolCall("x", "search", "{}"),)
    assert parser.is_whole


def test_an_error_in_the_stream_is_kept() -> None:
    parser, _ = read([b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'])

    assert parser.error == {"message": "overloaded", "code": 503}
    assert not parser.is_whole


def test_comments_other_fields_and_a_byte_order_mark_are_passed_over() -> None:
    before = b"\xef\xbb\xbf: ping\n\n\nevent: chunk\nid: 7\nretry: 10\n"

    _, said = read([before + stream([text("so"), END])])

    assert said == "so"


def test_an_event_of_several_data_lines_is_one_chunk() -> None:
    pretty = json.dumps(text("so"), indent=1).replace("\n", "\ndata: ")

    _, said = read([f"data: {pretty}\n\n".encode()])

    assert said == "so"


def test_the_last_event_needs_no_blank_line() -> None:
    parser, said = read([b"data:" + json.dumps(text("so")).encode()])

    assert said == "so"
    assert not parser.is_whole


def test_a_delta_of_a_megabyte_comes_through_in_any_pieces() -> None:
    large = "é" * 600_000
    whole = stream([text(large), END])

    parser, said = read(whole[n : n + 1_000] for n in range(0, len(whole), 1_000))

    assert said == large
    assert parser.problems == []


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("lines", [1, 5])
def test_an_event_beyond_the_limit_is_dropped_and_described(
    monkeypatch: pytest.MonkeyPatch, size: int, lines: int
) -> None:
    monkeypatch.setattr(event_lines, "MAX_EVENT_BYTES", 200)
    endless = b"".join(b"data: " + b"x" * (2_000 // lines) + b"\n" for _ in range(lines)) + b"\n"
    whole = stream([text("one ")]) + endless + stream([text("two"), END])

    parser, said = read(whole[n : n + size] for n in range(0, len(whole), size))

    assert said == "one two"
    assert parser.problems == ["an event beyond the limit"]


def test_an_endless_line_is_never_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_lines, "MAX_EVENT_BYTES", 1_000)
    lines = event_lines.EventLines()

    for _ in range(1_000):
        assert lines.feed(b"x" * 500) == []

    assert lines.dropped == 1
    assert lines.finish() == []
