import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Marker, MarkerKind, PlanPayload, ToolResult
from cogni_kernel import ModelFacingText

values = st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none(), max_size=4)


@given(values)
def test_the_model_gets_all_of_a_result(value: dict[str, object]) -> None:
    result = ToolResult.data(value)

    assert json.loads(str(result.for_model)) == value
    assert result.screen == value
    assert not result.is_empty


@given(st.text())
def test_text_goes_to_the_model_as_it_is(text: str) -> None:
    assert str(ToolResult.data(text).for_model) == text


def test_a_read_only_mapping_is_a_value_too() -> None:
    assert str(ToolResult.data(MappingProxyType({"a": 1})).for_model) == '{"a": 1}'


def test_a_compact_form_is_for_the_model_alone() -> None:
    plan = PlanPayload("A plan", ())
    result = ToolResult.data(
        {"rows": [1, 2]},
        compact=ModelFacingText("Two rows."),
        renderable=plan,
        urls=("https://wiki.example/7",),
    )

    assert str(result.for_model) == "Two rows."
    assert result.screen == {"rows": [1, 2]}
    assert result.for_surface is plan
    assert result.urls == ("https://wiki.example/7",)


def test_a_marker_costs_the_model_a_token_and_a_line() -> None:
    result = ToolResult.marker(Marker(MarkerKind.CHART, "c3"), ModelFacingText("A bar chart."))

    assert str(result.for_model).startswith("[[CHART:c3]] A bar chart.")
    assert result.screen == {"marker": "[[CHART:c3]]", "content": "A bar chart."}
    assert not result.is_empty


def test_nothing_found_explains_itself() -> None:
    result = ToolResult.empty(ModelFacingText("No page matches."))

    assert result.is_empty
    assert str(result.for_model) == result.screen == "No page matches."
    with pytest.raises(ValueError, match="explains why"):
        ToolResult.empty(ModelFacingText(" "))


def test_text_whose_reader_is_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="ModelFacingText"):
        ToolResult("found", "found")  # type: ignore[arg-type]
