"""A chart as SVG, drawn here: nothing in it can run, fetch or style what is around it."""

import re
from xml.etree import ElementTree

import vl_convert

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_engine import ChartPayload
from cogni_kernel import encodable

MAX_POINTS = 2_000
WIDTH, HEIGHT = 520, 240
COLOURS = ("#1f6f8b", "#c2571a", "#4b7a2b", "#7a4fa3", "#b0306a", "#8a6d00", "#35508f", "#5f6368")

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
_SHAPES = frozenset(
    ("svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath", "title")
)
_ELSEWHERE = re.compile(r"url\((?!#)|[a-z]+:", re.IGNORECASE)


def chart_svg(chart: ChartPayload) -> str | None:
    """Return the picture; None where there are no figures, more than a picture can show, or a text
    that it cannot draw: the figures beside it say the same.

    Takes some tenths of a second, the first one in a process more: call it in a thread.
    """
    points = len(chart.labels) * len(chart.series)
    if not 0 < points <= MAX_POINTS:
        return None
    try:
        drawn = vl_convert.vegalite_to_svg(_specification(chart), allowed_base_urls=[])
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


def _specification(chart: ChartPayload) -> dict[str, object]:
    values = [
        {
            "at": at,
            "label": _plain(label) or " ",
            "series": _plain(row.name),
            "value": row.values[at],
        }
        for row in chart.series
        for at, label in enumerate(chart.labels)
    ]
    is_bar = chart.form == "bar"
    names = [_plain(row.name) for row in chart.series]
    encoding: dict[str, object] = {
        "x": {
            "field": "label",
            "type": "nominal",
            "sort": {"field": "at", "op": "min"},
            "title": None,
            "axis": {
                "labelOverlap": True,
                "labelLimit": 90,
                "labelAngle": 0 if len(chart.labels) < 8 else -40,
            },
        },
        "y": {"field": "value", "type": "quantitative", "title": _plain(chart.unit) or None},
        "color": {
            "field": "series",
            "type": "nominal",
            "title": None,
            "scale": {
                "domain": names,
                "range": [COLOURS[n % len(COLOURS)] for n in range(len(names))],
            },
            "legend": {"orient": "bottom", "labelLimit": 160} if len(names) > 1 else None,
        },
    }
    if is_bar and len(names) > 1:
        encoding["xOffset"] = {"field": "series", "sort": names}
    return {
        "data": {"values": values},
        "mark": {"type": "bar"} if is_bar else {"type": "line", "point": True},
        "encoding": encoding,
        "width": WIDTH,
        "height": HEIGHT,
        "background": "#ffffff",
        "config": {
            "font": "sans-serif",
            "axis": {"labelColor": "#333333", "titleColor": "#333333", "labelFontSize": 12},
            "legend": {"labelColor": "#333333", "labelFontSize": 12},
            "view": {"stroke": None},
        },
    }


def _plain(text: str) -> str:
    return _CONTROLS.sub(" ", neutralise_hidden_text(encodable(text)))
