"""Deltas as server-sent events."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cogni_domain.ports.run_log import NumberedDelta
from cogni_engine import (
    CitationDelta,
    DoneDelta,
    FailedDelta,
    PhaseDelta,
    ProposalDelta,
    to_payload,
)
from cogni_kernel import encodable
from cogni_surfaces.chat import View, disclosed, spoken_citation, spoken_proposal

_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream; `data` is one line of JSON, whatever a reader takes for the end of a line."""

    id: str
    event: str
    data: str


def server_event(numbered: NumberedDelta, view: View = View()) -> ServerEvent:  # noqa: B008 - a frozen value
    """Encode a delta; a terminal one carries its outcome as a person sees it."""
    delta = numbered.delta
    payload = to_payload(delta)
    if isinstance(delta, DoneDelta | FailedDelta):
        payload = {"outcome": disclosed(delta.outcome, view)}
    elif isinstance(delta, PhaseDelta):
        payload = {**payload, "detail": view.said(delta.detail)}
    elif isinstance(delta, CitationDelta):
        payload = spoken_citation(payload, view.language)
    elif isinstance(delta, ProposalDelta):
        payload = spoken_proposal(payload, view)
    return ServerEvent(str(numbered.cursor), delta.name, json_line(payload))


def json_line(payload: Mapping[str, object]) -> str:
    """Return JSON that every reader can read: one line, valid UTF-8, and null for a number that is none.

    >>> json_line({"text": "a\\nb\\u2028c", "share": float("nan")})
    '{"text":"a\\\\nb\\\\u2028c","share":null}'
    """
    try:
        text = _json(payload)
    except ValueError:
        text = _json(_finite(payload))
    return _LINE_ENDS.sub(lambda m: f"\\u{ord(m[0]):04x}", encodable(text))


def _json(payload: object) -> str:
    return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
