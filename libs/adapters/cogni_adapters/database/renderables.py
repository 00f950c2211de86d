"""The engine's renderables, rebuilt from what they gave as JSON."""

from collections.abc import Callable, Mapping
from typing import Any

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


def renderable(kind: MarkerKind, payload: Mapping[str, Any]) -> Renderable:
    """Return the renderable of a kind that `payload` came from: the inverse of its `to_payload`.

    Raises:
        ValueError: No renderable of this kind, or with these fields, is known.
    """
    try:
        return _REBUILD[kind](payload)
    except (KeyError, TypeError) as wrong:
        raise ValueError(f"not a renderable: {kind.name} {sorted(payload)}") from wrong


def _chart(payload: Mapping[str, Any]) -> Renderable:
    series = tuple(Series(each["name"], tuple(each["values"])) for each in payload["series"])
    return ChartPayload(**{**payload, "labels": tuple(payload["labels"]), "series": series})


def _table(payload: Mapping[str, Any]) -> Renderable:
    rows = tuple(map(tuple, payload["rows"]))
    return TablePayload(**{**payload, "columns": tuple(payload["columns"]), "rows": rows})


def _timeline(payload: Mapping[str, Any]) -> Renderable:
    moments = tuple(Moment(**each) for each in payload["moments"])
    return TimelinePayload(**{**payload, "moments": moments})


def _report(payload: Mapping[str, Any]) -> Renderable:
    sections = tuple(Section(**each) for each in payload["sections"])
    return ReportPayload(**{**payload, "sections": sections})


def _plan(payload: Mapping[str, Any]) -> Renderable:
    return PlanPayload(**{**payload, "steps": tuple(PlanStep(**each) for each in payload["steps"])})


_REBUILD: Mapping[MarkerKind, Callable[[Mapping[str, Any]], Renderable]] = {
    MarkerKind.CHART: _chart,
    MarkerKind.TABLE: _table,
    MarkerKind.TIMELINE: _timeline,
    MarkerKind.REPORT: _report,
    MarkerKind.PLAN: _plan,
    MarkerKind.HIGHLIGHT: lambda payload: HighlightPayload(**payload),
    MarkerKind.IMAGE: lambda payload: ImagePayload(**payload),
}
