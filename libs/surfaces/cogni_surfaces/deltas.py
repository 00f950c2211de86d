"""Deltas as server-sent events."""

import json
from dataclasses import dataclass

from cogni_domain.ports.run_log import NumberedDelta
from cogni_engine import DoneDelta, FailedDelta, to_payload
from cogni_surfaces.renderer import disclosed


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream; `data` is one line of JSON."""

    id: str
    event: str
    data: str


def server_event(numbered: NumberedDelta) -> ServerEvent:
    """Encode a delta; a terminal one carries its outcome as a person sees it."""
    delta = numbered.delta
    payload = to_payload(delta)
    if isinstance(delta, DoneDelta | FailedDelta):
        payload = {"outcome": disclosed(delta.outcome)}
    return ServerEvent(str(numbered.cursor), delta.name, json.dumps(payload, ensure_ascii=False))
