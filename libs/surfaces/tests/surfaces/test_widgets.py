import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogni_engine import (
    ChartPayload,
    HighlightPayload,
    ImagePayload,
    Marker,
    MarkerKind,
    Missing,
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
from cogni_surfaces import widget_view
from cogni_surfaces.charts import COLOURS, MAX_POINTS, WIDTHS, chart_svg, is_inert

HOSTILE = (
    '<script>alert(1)</script><img src="https://evil.example/x" onerror="alert(1)">'
    '<a href="javascript:alert(1)">x</a>\u202e\x00<svg/onload=alert(1)>'
)
ALLOWED = re.compile(
    r"</?(?:p|br|hr|em|strong|s|code|pre|blockquote|ul|ol|li|h[1-6]|table|thead|tbody|tr|td|bdi)>"
    r'|</?th(?: scope="col")?>|</?time(?: datetime="[0-9T:.Z+-]+")?>|<ol start="[0-9]+">'
    r'|<sup class="source" data-handle="s[0-9]+">|</sup>'
)


def view(payload: Renderable | Missing, kind: MarkerKind | None = None) -> dict[str, object]:
    marker_kind = kind or (payload.kind if isinstance(payload, Renderable) else MarkerKind.CHART)
    return widget_view(Marker(marker_kind, f"{marker_kind.value}1"), payload)


def hostile() -> list[Renderable]:
    return [
        TablePayload(HOSTILE, (HOSTILE,), ((HOSTILE,), (None,))),
        TimelinePayload(HOSTILE, (Moment(HOSTILE, HOSTILE, HOSTILE), Moment("2026-11-30", "x"))),
        PlanPayload(HOSTILE, (PlanStep(HOSTILE, HOSTILE),)),
        ReportPayload(HOSTILE, (Section(HOSTILE, f"{HOSTILE} ![x](https://evil.example/p)"),)),
        HighlightPayload(HOSTILE, HOSTILE),
        HighlightPayload("Here", "s3"),
        ImagePayload(HOSTILE, HOSTILE, HOSTILE),
    ]


@pytest.mark.parametrize("payload", hostile(), ids=lambda p: type(p).__name__)
def test_no_widget_brings_a_tag_that_runs_or_fetches(payload: Renderable) -> None:
    html = str(view(payload)["html"])

    assert re.sub(ALLOWED, "", html).count("<") == 0
    assert "\u202e" not in html
    assert "\x00" not in html


def test_a_highlight_points_at_a_source_of_the_answer() -> None:
    html = str(view(HighlightPayload("Here", "s3"))["html"])

    assert '<sup class="source" data-handle="s3"></sup>' in html


@pytest.mark.parametrize("missing", Missing)
def test_too_old_is_told_from_never_issued(missing: Missing) -> None:
    shown = view(missing)

    assert shown["state"] == missing.value
    assert not {"html", "svg", "table"} & set(shown)


def test_a_chart_comes_with_its_figures() -> None:
    chart = ChartPayload("People", ("Q1", "Q2"), (Series("A", (1, None)), Series("B", (2.5, 3))))

    shown = view(chart)

    assert shown["table"] == {
        "columns": ["", "A", "B"],
        "rows": [["Q1", 1, 2.5], ["Q2", None, 3]],
    }
    assert {"Q1", "Q2", "A", "B"} <= words(str(shown["svg"]))


@given(st.integers(-10, 5000))
@settings(max_examples=8, deadline=None)
def test_a_chart_is_drawn_for_its_place_and_its_text_stays_legible(width: int) -> None:
    series = tuple(Series(f"Department {n}", (1, 2)) for n in range(7))
    svg = ElementTree.fromstring(
        chart_svg(ChartPayload("People", ("Q1", "Q2"), series), width) or ""
    )

    drawn = float(svg.attrib["width"])
    sizes = {e.attrib["font-size"] for e in svg.iter() if e.tag.endswith("text")}
    assert drawn == max(WIDTHS[0], min(WIDTHS[-1], width))
    assert sizes == {"12px"}


def test_a_chart_names_its_colours_so_that_a_theme_can_have_its_own() -> None:
    svg = str(view(ChartPayload("t", ("a",), (Series("A", (1,)), Series("B", (2,)))))["svg"])

    painted = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) - {"none", "transparent"}
    assert all(re.fullmatch(r"var\(--[a-z0-9-]+, #[0-9a-f]{6}\)", name) for name in painted)
    assert set(COLOURS[:2]) <= painted


def words(svg: str) -> set[str]:
    root = ElementTree.fromstring(svg)
    return {element.text or "" for element in root.iter() if element.tag.endswith("text")}


@pytest.mark.parametrize("form", ["bar", "line"])
def test_a_hostile_chart_is_shapes_and_text(form: str) -> None:
    chart = ChartPayload(
        HOSTILE, (HOSTILE, "\ud800", "שלום"), (Series(HOSTILE, (1, 2, 3)),), form, HOSTILE
    )

    svg = str(view(chart)["svg"])

    tags = {element.tag.split("}")[1] for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "path", "rect", "text", "line", "defs", "clipPath"}
    assert is_inert(svg)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=6), st.text(max_size=12))
def test_any_labels_make_a_picture_that_can_be_read_or_none(labels: list[str], name: str) -> None:
    chart = ChartPayload("t", tuple(labels), (Series(name, tuple(range(len(labels)))),))

    svg = chart_svg(chart)

    assert svg is None or is_inert(svg)


def test_a_chart_of_nothing_or_of_too_much_has_figures_alone() -> None:
    nothing = ChartPayload("t", (), ())
    many = tuple(map(str, range(MAX_POINTS + 1)))
    too_much = ChartPayload("t", many, (Series("A", tuple(range(len(many)))),))

    assert "svg" not in view(nothing)
    shown = view(too_much)
    assert "svg" not in shown
    assert isinstance(shown["table"], dict)


@pytest.mark.parametrize(
    "active",
    [
        "<svg><script>1</script></svg>",
        '<svg><image width="1"/></svg>',
        '<svg><a x="1">t</a></svg>',
        '<svg><rect onload="1"/></svg>',
        '<svg><rect fill="url(https://evil.example/a)"/></svg>',
        '<svg><use xlink:href="#a"/></svg>',
        "<svg><style>*{}</style></svg>",
    ],
)
def test_a_picture_that_could_act_is_caught(active: str) -> None:
    assert not is_inert(active)
