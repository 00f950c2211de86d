import math
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Parameter, ParameterType
from cogni_kernel import Err, HumanText, InvalidArgumentError, ModelFacingText, Ok, Result

SAID = ModelFacingText("What it is.")


class Topics:
    """Three human words and what they stand for."""

    KNOWN: ClassVar = {"leave": "policy-7", "pay": "policy-9"}

    def names(self) -> tuple[str, ...]:
        return tuple(self.KNOWN)

    def resolve(self, spoken: str) -> Result[str]:
        if spoken in self.KNOWN:
            return Ok(self.KNOWN[spoken])
        known = ", ".join(self.KNOWN)
        return Err(InvalidArgumentError(HumanText("…"), ModelFacingText(f"Say one of {known}.")))


class NoTopics(Topics):
    def names(self) -> tuple[str, ...]:
        return ()


def made(kind: ParameterType) -> Parameter:
    return Parameter("value", kind, SAID)


@given(st.sampled_from(ParameterType), st.integers() | st.floats() | st.booleans() | st.text())
def test_what_is_taken_is_taken_unchanged(kind: ParameterType, value: object) -> None:
    result = made(kind).validate(value)

    assert isinstance(result, Err) or result.value is value


@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        (ParameterType.STRING, ["", "a"], [1, None, b"a", ["a"]]),
        (ParameterType.INTEGER, [0, -5, 2**63 - 1], [True, 1.0, "1", 2**63, None]),
        (ParameterType.NUMBER, [0, 1.5, 2**70], [False, "1", math.inf, math.nan, 10**400]),
        (ParameterType.BOOLEAN, [True, False], [0, 1, "true", None]),
        (ParameterType.STRINGS, [[], ["a", ""]], [("a",), "a", [1], [None], [["a"]]]),
    ],
)
def test_each_type_takes_its_own_values(
    kind: ParameterType, taken: list[object], refused: list[object]
) -> None:
    assert [isinstance(made(kind).validate(v), Ok) for v in taken] == [True] * len(taken)
    assert [isinstance(made(kind).validate(v), Err) for v in refused] == [True] * len(refused)


def test_a_refusal_names_the_parameter_and_says_what_it_is() -> None:
    result = made(ParameterType.BOOLEAN).validate("yes")

    assert isinstance(result, Err)
    assert str(result.error.model_hint) == "value must be a JSON boolean. What it is."


def test_a_human_word_is_resolved_and_an_unknown_one_says_which_exist() -> None:
    topic = Parameter("topic", ParameterType.STRING, SAID, vocabulary=Topics())

    assert topic.validate("leave") == Ok("policy-7")
    unknown = topic.validate("policy-7")
    assert isinstance(unknown, Err)
    assert str(unknown.error.model_hint) == "Say one of leave, pay."
    assert isinstance(topic.validate(7), Err)


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (ParameterType.STRING, {"type": "string"}),
        (ParameterType.INTEGER, {"type": "integer"}),
        (ParameterType.NUMBER, {"type": "number"}),
        (ParameterType.BOOLEAN, {"type": "boolean"}),
        (ParameterType.STRINGS, {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_the_model_is_told_the_type_in_json_schema(
    kind: ParameterType, schema: dict[str, object]
) -> None:
    assert made(kind).to_schema() == {**schema, "description": "What it is."}


def test_the_model_is_told_the_names_and_never_the_identifiers() -> None:
    schema = Parameter("topic", ParameterType.STRING, SAID, vocabulary=Topics()).to_schema()

    assert schema["enum"] == ["leave", "pay"]
    assert "policy" not in str(schema)


def test_a_vocabulary_without_words_leaves_the_schema_valid() -> None:
    schema = Parameter("topic", ParameterType.STRING, SAID, vocabulary=NoTopics()).to_schema()

    assert "enum" not in schema


@pytest.mark.parametrize("name", ["", "two words", "1st", "größe", "a-b", "a" * 65, "a\n"])
def test_a_name_that_some_provider_refuses_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="an ASCII name and a description"):
        Parameter(name, ParameterType.STRING, SAID)


def test_a_parameter_without_a_description_is_refused() -> None:
    with pytest.raises(ValueError, match="an ASCII name and a description"):
        Parameter("topic", ParameterType.STRING, ModelFacingText(" \u200b"))


def test_only_a_string_comes_from_a_vocabulary() -> None:
    with pytest.raises(ValueError, match="only a string"):
        Parameter("topic", ParameterType.STRINGS, SAID, vocabulary=Topics())
