import json
import math
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Echo, EchoForm, bound_for_model, echo_of, ui_preview
from cogni_engine.tool.echo import MAX_CONTENT_BYTES, MAX_MODEL_CHARACTERS
from cogni_kernel import ModelFacingText, ToolName

STRUCTURED = Echo(EchoForm.STRUCTURED)
anything_written = st.text(alphabet=st.characters(exclude_categories=()))
scalars = st.none() | st.booleans() | st.integers() | st.floats() | anything_written | st.binary()
things = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(scalars, inner, max_size=3)
        | st.dictionaries(st.just("content") | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
limits = st.integers(1, 60)


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


@given(things, limits)
def test_an_echo_is_at_most_its_limit_and_says_where_it_was_cut(thing: object, limit: int) -> None:
    shown, whole = ui_preview(thing, limit), ui_preview(thing, 10**9)

    assert isinstance(shown, str)
    assert isinstance(whole, str)
    assert shown.encode().decode() == shown
    if len(whole) <= limit:
        assert shown == whole
    else:
        assert len(shown) == limit
        assert shown == whole[: limit - 1] + "…"


@given(things)
def test_what_read_file_gives_is_passed_untouched(thing: object) -> None:
    shown = ui_preview(thing, 1, name="read_file")

    assert (shown is thing) if isinstance(thing, Mapping) else isinstance(shown, str)


@pytest.mark.parametrize("name", ["read_file", ToolName("read_file")])
def test_a_name_may_be_text_or_a_tools_name(name: object) -> None:
    result = {"path": "a", "content": "b"}

    assert ui_preview(result, name=name) is result
    assert ui_preview(result, 4000, name=name) is result


@pytest.mark.parametrize("name", [None, "read_files", "READ_FILE", "", 7])
def test_any_other_tool_is_collapsed_to_its_content(name: object) -> None:
    assert ui_preview({"path": "a", "content": "b"}, name=name) == "b"


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"content": ""}, ""),
        ({"content": None, "a": 1}, '{"content":null,"a":1}'),
        ({"content": False}, '{"content":false}'),
        ({"content": 0}, "0"),
        ({"content": ["a", 1]}, '["a",1]'),
        ({"content": b"ab\xff"}, "ab\ufffd"),
        ({}, "{}"),
        ({"a": "é"}, '{"a":"é"}'),
        ("", ""),
        ("text", "text"),
        (None, ""),
        (True, "true"),
        (12, "12"),
        (1.5, "1.5"),
        ([1, None], "[1,null]"),
        ((1, 2), "[1,2]"),
        (b"caf\xc3\xa9", "café"),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), '{"a":{"b":1}}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (Unspeakable(), "(Unspeakable)"),
        ({"a": Unspeakable()}, "(dict)"),
        ("\ud83d\ude00 \ud83d", "😀 \ufffd"),
    ],
)
def test_a_result_reads_as_the_contract_says(result: object, shown: str) -> None:
    assert ui_preview(result) == shown


def test_the_limit_counts_code_points_and_not_bytes() -> None:
    assert ui_preview("😀" * 5, 5) == "😀" * 5
    assert ui_preview("😀" * 6, 5) == "😀" * 4 + "…"
    assert ui_preview("x" * 4000) == "x" * 4000
    assert ui_preview("x" * 4001) == "x" * 3999 + "…"
    assert ui_preview("abc", 1) == "…"


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_leaves_nothing_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ui_preview("", limit)


def test_a_result_that_holds_itself_still_has_an_echo() -> None:
    loop: dict[str, object] = {}
    loop["again"] = loop
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    assert isinstance(ui_preview(loop), str)
    assert isinstance(ui_preview(deep), str)
    assert isinstance(echo_of(loop, STRUCTURED, "any"), str)


@given(things, st.sampled_from(EchoForm), limits, st.sampled_from(["read_file", "search"]))
def test_the_echo_of_a_delta_is_plain_json(
    thing: object, form: EchoForm, limit: int, name: str
) -> None:
    shown = echo_of(thing, Echo(form, limit), name)
    stored = json.dumps(shown, allow_nan=False, ensure_ascii=False).encode()

    assert json.loads(stored) == shown
    if form is EchoForm.NONE:
        assert shown is None
    elif not isinstance(shown, dict):
        assert isinstance(shown, str)
        assert len(shown) <= limit
    else:
        assert isinstance(thing, Mapping)
        assert form is EchoForm.STRUCTURED or name == "read_file"


@given(st.dictionaries(st.text(max_size=4), st.text(max_size=9) | st.integers(), max_size=4))
def test_a_structured_echo_keeps_every_field(result: dict[str, object]) -> None:
    assert echo_of(result, STRUCTURED, "any") == result
    assert echo_of(result, Echo(), "read_file") == result


def test_a_structured_echo_is_a_copy() -> None:
    result = {"content": "a", "lines": [1]}
    shown = echo_of(result, STRUCTURED, "read_file")
    result["lines"] = [2]

    assert shown == {"content": "a", "lines": [1]}


@given(st.sampled_from(["a", "é", "日", "😀", "a😀"]), st.integers(-2, 2))
def test_only_the_content_of_a_structured_echo_is_bounded_at_a_whole_character(
    letters: str, over: int
) -> None:
    content = letters * (MAX_CONTENT_BYTES // len(letters.encode()) + over)
    shown = echo_of({"path": "a", "content": content}, STRUCTURED, "read_file")

    assert isinstance(shown, dict)
    assert shown["path"] == "a"
    assert content.startswith(shown["content"])
    size = len(shown["content"].encode())
    assert size + 8 * len(letters.encode()) > MAX_CONTENT_BYTES - 4
    assert size <= MAX_CONTENT_BYTES
    if len(content.encode()) > MAX_CONTENT_BYTES:
        assert shown["content_cut_after_bytes"] == size > MAX_CONTENT_BYTES - 4
    else:
        assert shown == {"path": "a", "content": content}


def test_other_fields_are_not_bounded() -> None:
    result = {"diff": "x" * 2 * MAX_CONTENT_BYTES, "content": 7}

    assert echo_of(result, STRUCTURED, "patch_file") == result


def test_what_json_does_not_know_is_shown_as_text() -> None:
    assert echo_of({"when": ToolName("x")}, STRUCTURED, "any") == {"when": "x"}
    assert echo_of({"share": math.nan}, STRUCTURED, "any") == '{"share":NaN}'


@given(anything_written)
def test_the_model_reads_all_of_a_short_result(text: str) -> None:
    bounded = str(bound_for_model(ModelFacingText(text)))

    assert bounded.encode().decode() == bounded
    assert bounded == text or any("\ud800" <= c <= "\udfff" for c in text)


@pytest.mark.parametrize("over", [0, 1, 50_000])
def test_the_model_is_told_where_a_long_result_was_cut(over: int) -> None:
    whole = "é" * (MAX_MODEL_CHARACTERS + over)
    bounded = str(bound_for_model(ModelFacingText(whole)))

    assert bounded[:MAX_MODEL_CHARACTERS] == whole[:MAX_MODEL_CHARACTERS]
    assert ("[Cut after 100000 of" in bounded) is (over > 0)
