import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    ChartPayload,
    HighlightPayload,
    ImagePayload,
    MarkerKind,
    Moment,
    PlanPayload,
    PlanStep,
    Renderable,
    ReportPayload,
    Section,
    Series,
    TablePayload,
    TimelinePayload,
)

texts = st.text(max_size=6)
figures = st.none() | st.floats(allow_nan=False, allow_infinity=False)
cells = st.booleans() | st.integers() | texts | figures


@st.composite
def charts(draw: st.DrawFn) -> ChartPayload:
    labels = tuple(draw(st.lists(texts, max_size=4)))
    values = st.tuples(*([figures] * len(labels)))
    series = draw(st.lists(st.builds(Series, texts, values), max_size=3))
    return ChartPayload(
        draw(texts), labels, tuple(series), draw(st.sampled_from(["bar", "line"])), draw(texts)
    )


@st.composite
def tables(draw: st.DrawFn) -> TablePayload:
    columns = tuple(draw(st.lists(texts, max_size=4)))
    rows = draw(st.lists(st.tuples(*([cells] * len(columns))), max_size=4))
    return TablePayload(draw(texts), columns, tuple(rows))


renderables: st.SearchStrategy[Renderable] = st.one_of(
    charts(),
    tables(),
    st.builds(
        TimelinePayload,
        texts,
        st.lists(st.builds(Moment, texts, texts, texts), max_size=3).map(tuple),
    ),
    st.builds(
        ReportPayload, texts, st.lists(st.builds(Section, texts, texts), max_size=3).map(tuple)
    ),
    st.builds(
        PlanPayload, texts, st.lists(st.builds(PlanStep, texts, texts), max_size=3).map(tuple)
    ),
    st.builds(HighlightPayload, texts, texts),
    st.builds(ImagePayload, texts, texts, texts),
)


@given(renderables)
def test_a_payload_is_plain_json(renderable: Renderable) -> None:
    payload = renderable.to_payload()

    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


@given(renderables)
def test_the_model_gets_one_line(renderable: Renderable) -> None:
    summary = str(renderable.summary_for_model())

    assert len(summary.splitlines()) == 1
    assert summary.endswith(".")


@pytest.mark.parametrize(
    ("renderable", "kind", "summary"),
    [
        (
            ChartPayload("Heads", ("Q1", "Q2"), (Series("Berlin", (4711.0, None)),)),
            MarkerKind.CHART,
            "A bar chart, Heads: Berlin by 2 labels.",
        ),
        (TablePayload("Pay", ("name",), (("4711",),)), MarkerKind.TABLE, "A table, Pay: 1 rows."),
        (
            TimelinePayload("Move", (Moment("2026-03-02", "4711"),)),
            MarkerKind.TIMELINE,
            "A timeline, Move: 1 entries.",
        ),
        (
            ReportPayload("Year", (Section("4711", "4711"),)),
            MarkerKind.REPORT,
            "A report, Year: 1 sections.",
        ),
        (PlanPayload("Move", (PlanStep("4711"),)), MarkerKind.PLAN, "A plan, Move: 1 steps."),
        (HighlightPayload("Leave", "s4711"), MarkerKind.HIGHLIGHT, "A highlight, Leave."),
        (ImagePayload("Map", "a4711", "4711"), MarkerKind.IMAGE, "An image, Map."),
    ],
)
def test_the_model_is_told_what_it_is_and_none_of_its_data(
    renderable: Renderable, kind: MarkerKind, summary: str
) -> None:
    assert renderable.kind is kind
    assert str(renderable.summary_for_model()) == summary


def test_a_title_cannot_break_the_line() -> None:
    plan = PlanPayload("A\nplan\u2028for\r\nall", ())

    assert str(plan.summary_for_model()) == "A plan, A plan for all: 0 steps."


@pytest.mark.parametrize("values", [(), (1.0,), (1.0, 2.0, 3.0)])
def test_a_series_of_another_length_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="one value a label"):
        ChartPayload("Heads", ("Q1", "Q2"), (Series("Berlin", values),))


def test_a_chart_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="bar or line"):
        ChartPayload("Heads", (), (), form="pie")


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="one cell a column"):
        TablePayload("Pay", ("a", "b"), (("x", 1), ("y",)))


@pytest.mark.parametrize("figure", [math.nan, math.inf, -math.inf])
def test_a_figure_that_cannot_be_drawn_is_refused(figure: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        ChartPayload("Heads", ("Q1",), (Series("Berlin", (figure,)),))
    with pytest.raises(ValueError, match="finite"):
        TablePayload("Pay", ("a",), ((figure,),))


def test_what_says_neither_kind_nor_summary_cannot_be_pushed() -> None:
    class Bare(Renderable):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Bare()  # type: ignore[abstract]
