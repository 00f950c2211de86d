"""A chart as SVG, drawn here: nothing in it can run, fetch or style what is around it.

Its colours are named, `var(--ink, #1b1e24)`: who shows it puts a theme's own in their place, and without one the
colours behind the names stand, on a light ground.
"""

import re
from xml.etree import ElementTree

import vl_convert

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_engine import ChartPayload
from cogni_kernel import encodable

MAX_POINTS = 2_000
HEIGHT = 200
WIDTHS = range(240, 721)
"""How wide a picture can be drawn, in pixels of its own: shown at that width, its text is 12 pixels high."""

WIDTH = 520
_SERIES = ("#1f6f8b", "#c2571a", "#4b7a2b", "#7a4fa3", "#b0306a", "#8a6d00", "#35508f", "#5f6368")
COLOURS = tuple(f"var(--chart-{n}, {colour})" for n, colour in enumerate(_SERIES, 1))
INK, DIM, LINE = "var(--ink, #1b1e24)", "var(--dim, #565d69)", "var(--line, #d9dce1)"
_LETTER, _LEGEND_ENTRY = 7, 140
"""Pixels that a letter of a label takes, and a name in the legend."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
_SHAPES = frozenset(
    ("svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath", "title")
)
_ELSEWHERE = re.compile(r"url\((?!#)|[a-z]+:", re.IGNORECASE)


def chart_svg(chart: ChartPayload, width: int = WIDTH) -> str | None:
    """Return the picture, drawn for a place of that width in pixels; None where there are no figures, more than a picture can show, or a text
    that it cannot draw: the figures beside it say the same.

    Takes some tenths of a second, the first one in a process more: call it in a thread.
    """
    points = len(chart.labels) * len(chart.series)
    if not 0 < points <= MAX_POINTS:
        return None
    try:
        drawn = vl_convert.vegalite_to_svg(_specification(chart, width), allowed_base_urls=[])
    except ValueError:
        return None
    return drawn if is_inert(drawn) else None


def is_inert(svg: str) -> bool:
    """Tell whether a picture is shapes and text alone, and refers to nothing outside it."""
    try:
        elements = list(ElementTree.fromstring(svg).iter())  # noqa: S314 - drawn in this process
    except ElementTree.ParseError:
        return False
    return all(_is_shape(element) for element in elements)


def _is_shape(element: ElementTree.Element) -> bool:
    if element.tag.removeprefix("{http://www.w3.org/2000/svg}") not in _SHAPES:
        return False
    for name, value in element.attrib.items():
        if name.startswith("aria-"):
            continue
        if name == "style" or name[:2] == "on" or "href" in name or _ELSEWHERE.search(value):
            return False
    return True


def _specification(chart: ChartPayload, wanted: int) -> dict[str, object]:
    width = max(WIDTHS[0], min(WIDTHS[-1], wanted))
    names = [_plain(row.name) for row in chart.series]
    encoding: dict[str, object] = {
        "x": _across(chart, width),
        "y": {"field": "value", "type": "quantitative", "title": _plain(chart.unit) or None},
        "color": _by_name(names, width),
    }
    is_bar = chart.form == "bar"
    if is_bar and len(names) > 1:
        encoding["xOffset"] = {"field": "series", "sort": names}
    return {
        "data": {"values": _values(chart)},
        "mark": {"type": "bar"} if is_bar else {"type": "line", "point": True},
        "encoding": encoding,
        "width": width,
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "padding": {"left": 2, "right": 8, "top": 8, "bottom": 2},
        "config": _LOOK,
    }


def _values(chart: ChartPayload) -> list[dict[str, object]]:
    return [
        {
            "at": at,
            "label": _plain(label) or " ",
            "series": _plain(row.name),
            "value": row.values[at],
        }
        for row in chart.series
        for at, label in enumerate(chart.labels)
    ]


def _across(chart: ChartPayload, width: int) -> dict[str, object]:
    """Return the axis of the labels, aslant where they do not fit side by side."""
    longest = max(map(len, chart.labels), default=0)
    fits = (longest + 1) * _LETTER * len(chart.labels) < width - 60
    return {
        "field": "label",
        "type": "nominal",
        "sort": {"field": "at", "op": "min"},
        "title": None,
        "axis": {"labelOverlap": True, "labelLimit": 90, "labelAngle": 0 if fits else -40},
    }


def _by_name(names: list[str], width: int) -> dict[str, object]:
    colours = [COLOURS[n % len(COLOURS)] for n in range(len(names))]
    columns = max(1, width // _LEGEND_ENTRY)
    legend = {"orient": "bottom", "labelLimit": _LEGEND_ENTRY - 30, "columns": columns}
    return {
        "field": "series",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": colours},
        "legend": legend if len(names) > 1 else None,
    }


_TEXT = {"labelColor": INK, "labelFontSize": 12, "titleColor": DIM, "titleFontSize": 12}
_LOOK: dict[str, object] = {
    "font": "sans-serif",
    "axis": {
        **_TEXT,
        "titleFontWeight": "normal",
        "gridColor": LINE,
        "domainColor": DIM,
        "tickColor": DIM,
    },
    "axisX": {"grid": False},
    "legend": {**_TEXT, "symbolStrokeWidth": 2, "rowPadding": 4, "columnPadding": 14},
    "view": {"stroke": None},
}


def _plain(text: str) -> str:
    return _CONTROLS.sub(" ", neutralise_hidden_text(encodable(text)))
