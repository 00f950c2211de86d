import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Parameter, ParameterType, canonical, describe, parse_arguments
from cogni_engine.tool.arguments import MAX_CHARACTERS
from cogni_kernel import Err, InvalidArgumentError, ModelFacingText, Ok

TYPES = {
    "text": ParameterType.STRING,
    "count": ParameterType.INTEGER,
    "share": ParameterType.NUMBER,
    "open": ParameterType.BOOLEAN,
    "tags": ParameterType.STRINGS,
}
OPTIONAL = describe(
    "search",
    does="Searches",
    use_when="asked",
    do_not_use="otherwise",
    parameters=tuple(
        Parameter(name, kind, ModelFacingText(f"The {name}."), required=False)
        for name, kind in TYPES.items()
    ),
)
NOTHING = describe("ping", does="Pings", use_when="asked", do_not_use="otherwise")
REQUIRED = describe(
    "look_up",
    does="Looks up",
    use_when="asked",
    do_not_use="otherwise",
    parameters=(Parameter("text", ParameterType.STRING, ModelFacingText("The text.")),),
)
RIGHT: dict[str, st.SearchStrategy[object]] = {
    "text": st.text(),
    "count": st.integers(-(2**63) + 1, 2**63 - 1),
    "share": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    "open": st.booleans(),
    "tags": st.lists(st.text(max_size=5), max_size=4),
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


def hint(raw: str) -> str:
    result = parse_arguments(raw, OPTIONAL)
    assert isinstance(result, Err)
    assert isinstance(result.error, InvalidArgumentError)
    assert result.error.model_hint is not None
    assert str(result.error.model_hint).encode()
    return str(result.error.model_hint)


@given(st.fixed_dictionaries({}, optional=RIGHT))
def test_what_was_written_is_what_the_tool_gets(given_values: dict[str, object]) -> None:
    result = parse_arguments(json.dumps(given_values), OPTIONAL)

    assert isinstance(result, Ok)
    assert dict(result.value) == given_values
    assert repr(dict(result.value)) == repr(given_values)


@given(st.dictionaries(st.sampled_from(sorted(TYPES)), json_values, max_size=3))
def test_a_value_is_taken_as_it_is_or_refused_and_never_coerced(
    given_values: dict[str, object],
) -> None:
    result = parse_arguments(json.dumps(given_values), OPTIONAL)

    if isinstance(result, Ok):
        for name, value in result.value.items():
            assert value is given_values[name] or value == given_values[name]
            assert type(value) is type(given_values[name])


@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_any_text_at_all_is_parsed_or_answered_with_a_hint(raw: str) -> None:
    result = parse_arguments(raw, NOTHING)

    assert isinstance(result, Ok) or result.error.model_hint is not None
    assert isinstance(result, Err) or dict(result.value) == {}


@given(json_values)
def test_only_an_object_is_arguments(value: object) -> None:
    result = parse_arguments(json.dumps(value), NOTHING)

    assert isinstance(result, Ok) is (value == {} and isinstance(value, dict))


def test_an_empty_string_is_valid_where_nothing_is_needed() -> None:
    assert parse_arguments("", NOTHING) == Ok(MappingProxyType({}))
    assert parse_arguments("", OPTIONAL) == Ok(MappingProxyType({}))
    assert isinstance(parse_arguments("", REQUIRED), Err)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("{", "not valid JSON"),
        ("{'text': 'a'}", "not valid JSON"),
        ('{"text": "a",}', "not valid JSON"),
        ('{"text": "a"} x', "not valid JSON"),
        ('{"text": "a"}{}', "not valid JSON"),
        (" ", "not valid JSON"),
        ("\ufeff{}", "not valid JSON"),
        ('{"text": "a\nb"}', "not valid JSON"),
        ('{"text": "a", "text": "b"}', "a name appears twice"),
        ('{"tags": [{"x": 1, "x": 2}]}', "a name appears twice"),
        ('{"share": NaN}', "NaN is not JSON"),
        ('{"share": -Infinity}', "-Infinity is not JSON"),
        ('{"text": "\\ud800"}', "not valid JSON"),
        ('{"\\udc00": 1}', "not valid JSON"),
        ('{"text": "\ud800"}', "not valid JSON"),
        ('{"count": ' + "9" * 5_000 + "}", "not valid JSON"),
        ('{"tags": ' + "[" * 50_000, "not valid JSON"),
        ("[" * 49_000 + "]" * 49_000, "not valid JSON"),
        ('{"text": "' + "a" * MAX_CHARACTERS + '"}', "longer than"),
        ("[]", "one JSON object"),
        ("null", "one JSON object"),
        ('"{}"', "one JSON object"),
        ('{"nope": 1}', "takes text, count, share, open, tags, and nothing else"),
        ('{"Text": "a"}', "and nothing else"),
        ('{"text": null}', "text must be a JSON string"),
        ('{"text": 1}', "text must be a JSON string"),
        ('{"count": "1"}', "count must be a JSON integer"),
        ('{"count": 1.0}', "count must be a JSON integer"),
        ('{"count": true}', "count must be a JSON integer"),
        ('{"count": 9223372036854775808}', "count must be a JSON integer"),
        ('{"count": -9223372036854775808}', "count must be a JSON integer"),
        ('{"share": 1e999}', "share must be a JSON number"),
        ('{"share": ' + "9" * 400 + "}", "share must be a JSON number"),
        ('{"share": false}', "share must be a JSON number"),
        ('{"open": 1}', "open must be a JSON boolean"),
        ('{"open": "true"}', "open must be a JSON boolean"),
        ('{"tags": "a"}', "tags must be a JSON array"),
        ('{"tags": ["a", 1]}', "tags must be a JSON array"),
        ('{"tags": {"0": "a"}}', "tags must be a JSON array"),
    ],
)
def test_what_is_wrong_is_said_and_how_to_mend_it(raw: str, said: str) -> None:
    assert said in hint(raw)
    assert len(hint(raw)) < 400


def test_a_missing_argument_is_named() -> None:
    result = parse_arguments("{}", REQUIRED)

    assert isinstance(result, Err)
    assert "look_up needs text" in str(result.error.model_hint)


def test_a_tool_that_takes_nothing_says_so() -> None:
    result = parse_arguments('{"q": 1}', NOTHING)

    assert isinstance(result, Err)
    assert "ping takes nothing" in str(result.error.model_hint)


def test_a_surrogate_pair_is_one_character() -> None:
    result = parse_arguments('{"text": "\\ud83d\\ude00"}', OPTIONAL)

    assert isinstance(result, Ok)
    assert result.value["text"] == "😀"


def test_arguments_cannot_be_changed_by_a_tool() -> None:
    result = parse_arguments('{"text": "a"}', OPTIONAL)

    assert isinstance(result, Ok)
    with pytest.raises(TypeError):
        result.value["text"] = "b"  # type: ignore[index]


@given(st.fixed_dictionaries({}, optional=RIGHT))
def test_equal_arguments_have_one_canonical_text(given_values: dict[str, object]) -> None:
    backwards = dict(reversed(given_values.items()))

    assert canonical(backwards) == canonical(given_values)
    assert json.loads(canonical(given_values)) == given_values


def test_the_canonical_text_is_sorted_and_has_no_spaces() -> None:
    assert canonical({"b": [1, 2], "a": "é"}) == '{"a":"é","b":[1,2]}'
