"""What stands in place of a marker: a picture with its figures, or sanitised HTML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import nh3

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_engine import (
    ChartPayload,
    HighlightPayload,
    ImagePayload,
    Marker,
    Missing,
    PlanPayload,
    Renderable,
    ReportPayload,
    TablePayload,
    TimelinePayload,
)
from cogni_kernel import encodable
from cogni_surfaces.charts import WIDTH, chart_svg
from cogni_surfaces.renderer import TAGS, markdown

_ALLOWED = {*TAGS, "time", "sup", "bdi"}
_ATTRIBUTES = {"time": {"datetime"}, "sup": {"class", "data-handle"}, "th": {"scope"}}
_HANDLE = re.compile(r"s[1-9][0-9]{0,8}", re.ASCII)
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}(?:Z|[+-][0-9]{2}:[0-9]{2})?)?")


@dataclass(frozen=True, slots=True)
class Figures:
    """Rows under columns, as plain JSON values."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def widget_view(
    marker: Marker, payload: Renderable | Missing, width: int | None = None
) -> dict[str, object]:
    """Return a widget as the contract names it: `svg` or `html`, and `table` where it has figures.

    May take a second: call it in a thread.

    Args:
        width: Pixels that there are for it, None where that is not known.
    """
    shown: dict[str, object] = {"marker": str(marker), "kind": marker.kind.name}
    if isinstance(payload, Missing):
        return {**shown, "state": payload.value, "title": ""}
    title = _text(str(getattr(payload, "title", "")))
    return {**shown, "state": "ready", "title": title, **_content(payload, width or WIDTH)}


def _content(payload: Renderable, width: int) -> dict[str, object]:  # noqa: PLR0911 - one a kind
    match payload:
        case ChartPayload():
            figures, svg = _figures(payload), chart_svg(payload, width)
            return {"table": _plain(figures), **({"svg": svg} if svg else {})}
        case TablePayload(_, columns, rows):
            figures = Figures(
                [_text(c) for c in columns], [[_cell(c) for c in row] for row in rows]
            )
            return {"table": _plain(figures), "html": _clean(_table(figures))}
        case TimelinePayload(_, moments):
            return _listed("ul", (f"{_time(m.at)} {_entry(m.title, m.detail)}" for m in moments))
        case PlanPayload(_, steps):
            return _listed("ol", (_entry(s.title, s.detail) for s in steps))
        case ReportPayload(_, sections):
            parts = (f"<h3>{_safe(s.heading)}</h3>{markdown(_text(s.body))}" for s in sections)
            return {"html": _clean("".join(parts))}
        case HighlightPayload(title, handle):
            return {"html": _clean(f"<p>{_safe(title)} {_source(handle)}</p>")}
        case ImagePayload(_, _, alternative):
            return {"html": _clean(f"<p>{_safe(alternative)}</p>")}
    return {"html": ""}


def _figures(chart: ChartPayload) -> Figures:
    columns = [_text(chart.unit), *(_text(row.name) for row in chart.series)]
    rows = [
        [_text(label), *(row.values[at] for row in chart.series)]
        for at, label in enumerate(chart.labels)
    ]
    return Figures(columns, rows)


def _plain(figures: Figures) -> dict[str, object]:
    return {"columns": list(figures.columns), "rows": [list(row) for row in figures.rows]}


def _table(figures: Figures) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in figures.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_shown(cell))}</td>' for cell in row)}</tr>"
        for row in figures.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _listed(tag: str, entries: Iterable[str]) -> dict[str, object]:
    return {"html": _clean(f"<{tag}>{''.join(f'<li>{entry}</li>' for entry in entries)}</{tag}>")}


def _entry(title: str, detail: str) -> str:
    return f"<strong>{_safe(title)}</strong>" + (f"<br>{_safe(detail)}" if detail else "")


def _time(at: str) -> str:
    shown = _safe(at)
    return f'<time datetime="{at}">{shown}</time>' if _MOMENT.fullmatch(at) else shown


def _source(handle: str) -> str:
    """Return the place of a source mark; the answer that the widget stands in has its number."""
    if not _HANDLE.fullmatch(handle):
        return ""
    return f'<sup class="source" data-handle="{handle}"></sup>'


def _cell(value: object) -> object:
    return _text(value) if isinstance(value, str) else value


def _shown(value: object) -> str:
    return "" if value is None else str(value)


def _safe(text: str) -> str:
    return f"<bdi>{escape(_text(text))}</bdi>"


def _text(text: str) -> str:
    return neutralise_hidden_text(encodable(text))


def _clean(html: str) -> str:
    return nh3.clean(html, tags=_ALLOWED, attributes=_ATTRIBUTES)
