import inspect
from typing import Any

import pytest

from cogni_engine import Definition, Echo, EchoForm, Parameter, ParameterType, describe
from cogni_kernel import DefinitionError, HumanText, ModelFacingText, SemVer, ToolName

QUERY = Parameter("query", ParameterType.STRING, ModelFacingText("What to look for."))
LIMIT = Parameter("limit", ParameterType.INTEGER, ModelFacingText("How many."), required=False)
WORDS: dict[str, Any] = {
    "does": "Look up a request",
    "use_when": "the person names one",
    "do_not_use": "for questions about the process",
}


def described(**changes: Any) -> Definition:
    return describe("request_lookup", **{**WORDS, **changes})


def test_a_description_reads_as_sentences() -> None:
    tool = described(instead="answer those from the handbook", returns="the status")

    assert str(tool.description) == (
        "Look up a request. Use it when the person names one. "
        "Do not use it for questions about the process. "
        "Instead, answer those from the handbook. Returns the status."
    )


def test_a_full_stop_is_never_doubled() -> None:
    with_stops = {name: f" {text}. " for name, text in WORDS.items()}

    assert described(**with_stops).description == described().description


def test_a_description_without_the_negative_clause_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"request_lookup: say when NOT to use it"):
        describe("request_lookup", does="Look up a request", use_when="asked")


@pytest.mark.parametrize("blank", ["", " ", ".", "\u200b", " . "])
@pytest.mark.parametrize("clause", ["does", "use_when", "do_not_use"])
def test_a_blank_clause_is_refused(clause: str, blank: str) -> None:
    with pytest.raises(DefinitionError, match=r"request_lookup: say (what|when)"):
        described(**{clause: blank})


@pytest.mark.parametrize("name", ["", "Search", "1st", "a-b", "a b", "é", "a" * 65, "search\n"])
def test_a_name_that_a_provider_might_refuse_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="lower-case letters"):
        describe(name, **WORDS)


@pytest.mark.parametrize("version", ["", "1", "1.0", "latest", "01.0.0"])
def test_a_floating_version_is_refused(version: str) -> None:
    with pytest.raises(DefinitionError, match="not a semantic version"):
        described(version=version)


def test_two_parameters_of_one_name_are_refused() -> None:
    with pytest.raises(DefinitionError, match="share a name"):
        described(parameters=(QUERY, LIMIT, QUERY))


def test_the_wire_form_belongs_to_no_provider() -> None:
    tool = described(parameters=(QUERY, LIMIT))

    assert tool.to_wire() == {
        "name": "request_lookup",
        "description": str(tool.description),
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "limit": {"type": "integer", "description": "How many."},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    }


def test_an_external_caller_is_told_which_product_it_is() -> None:
    tool = described(parameters=(QUERY,))
    outside = tool.for_external_caller("Acme")

    assert str(outside.does) == (
        "In Acme: Look up a request. Each call stands alone: nothing is remembered between calls."
    )
    assert outside.states_when_not_to_use()
    assert (outside.name, outside.version, outside.parameters) == (
        tool.name,
        tool.version,
        tool.parameters,
    )


def test_what_is_left_out_has_a_plain_default() -> None:
    tool = described()

    assert tool.version == SemVer(1, 0, 0)
    assert tool.echo == Echo(EchoForm.TEXT, 4000)
    assert tool.activity == HumanText("Looking it up")
    assert tool.instead is None
    assert tool.returns is None


def test_a_definition_made_without_describe_may_lack_the_negative_clause_and_says_so() -> None:
    bare = Definition(
        ToolName("search"),
        SemVer(1, 0, 0),
        ModelFacingText("Searches."),
        ModelFacingText("asked"),
        ModelFacingText(""),
    )

    assert not bare.states_when_not_to_use()
    assert str(bare.description) == "Searches. Use it when asked."


@pytest.mark.parametrize("limit", [0, -1])
def test_an_echo_of_nothing_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Echo(limit=limit)


def test_every_word_of_a_declaration_is_said_by_name() -> None:
    by_position = [
        p.name
        for p in inspect.signature(describe).parameters.values()
        if p.kind is not inspect.Parameter.KEYWORD_ONLY
    ]

    assert by_position == ["name"]
