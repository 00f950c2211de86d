"""The numbered events of a run, as its log keeps them and a surface encodes them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class RunDelta:
    """First of every run: what to resume, stop and continue by."""

    name: ClassVar[str] = "run"
    run_ref: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class TokenDelta:
    """Text that has been verified."""

    name: ClassVar[str] = "token"
    text: str


@dataclass(frozen=True, slots=True)
class PhaseDelta:
    """What the run is doing now; `detail` is for the person."""

    name: ClassVar[str] = "phase"
    phase: str
    detail: str


@dataclass(frozen=True, slots=True)
class ToolCompletedDelta:
    """The screen's echo of one call; `execution_time` in seconds, `result` as the definition's echo says."""

    name: ClassVar[str] = "tool_completed"
    call_id: str
    tool: str
    arguments: Mapping[str, object]
    execution_time: float
    result: object


@dataclass(frozen=True, slots=True)
class MarkerDelta:
    """A widget that stands where `marker` is in the text."""

    name: ClassVar[str] = "marker"
    marker: str
    kind: str
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ProposalDelta:
    """A change that waits for this person; `expires_at` is ISO 8601, UTC."""

    name: ClassVar[str] = "proposal"
    id: str
    rendering: Mapping[str, object]
    expires_at: str


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """A source that the answer used."""

    name: ClassVar[str] = "citation"
    handle: str
    label: str
    locator: str


@dataclass(frozen=True, slots=True)
class DoneDelta:
    """Terminal, for every outcome but Failed."""

    name: ClassVar[str] = "done"
    outcome: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FailedDelta:
    """Terminal, for Failed."""

    name: ClassVar[str] = "failed"
    outcome: Mapping[str, object]


Delta: TypeAlias = (
    RunDelta
    | TokenDelta
    | PhaseDelta
    | ToolCompletedDelta
    | MarkerDelta
    | ProposalDelta
    | CitationDelta
    | DoneDelta
    | FailedDelta
)

KINDS: Mapping[str, type[Delta]] = {
    kind.name: kind
    for kind in (
        RunDelta,
        TokenDelta,
        PhaseDelta,
        ToolCompletedDelta,
        MarkerDelta,
        ProposalDelta,
        CitationDelta,
        DoneDelta,
        FailedDelta,
    )
}


def to_payload(delta: Delta) -> dict[str, object]:
    """Return the event's data as the contract names it."""
    if isinstance(delta, TokenDelta):  # nine deltas in ten
        return {"text": delta.text}
    payload = asdict(delta)
    if isinstance(delta, ToolCompletedDelta):
        payload = {"call_id": payload.pop("call_id"), "name": payload.pop("tool"), **payload}
    return payload


def from_payload(name: str, payload: Mapping[str, object]) -> Delta:
    """Read an event back: the inverse of `to_payload`.

    Raises:
        ValueError: No delta has that name or those fields.
    """
    try:
        if name == ToolCompletedDelta.name:
            return ToolCompletedDelta(tool=payload["name"], **_without_name(payload))  # type: ignore[arg-type]
        return KINDS[name](**payload)  # type: ignore[arg-type]
    except (KeyError, TypeError) as wrong:
        raise ValueError(f"not a delta: {name} {list(payload)}") from wrong


def _without_name(payload: Mapping[str, object]) -> dict[str, object]:
    return {field: value for field, value in payload.items() if field != "name"}


def is_terminal(delta: Delta) -> bool:
    """Tell whether this is the last delta of its run."""
    return isinstance(delta, DoneDelta | FailedDelta)
