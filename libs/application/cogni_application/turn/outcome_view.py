"""A run's outcome as the public contract names it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from cogni_application.turn.ground import Shown
from cogni_domain.proposals import Proposal
from cogni_engine import (
    Completed,
    Failed,
    Halted,
    Marker,
    Proposed,
    Refused,
    RunOutcome,
)
from cogni_kernel import ConversationId, HumanText, RunRef, Usage

STOPPED = HumanText("This answer was stopped before it was complete. Ask again to continue.")


@dataclass(frozen=True, slots=True)
class OutcomeParts:
    """What an outcome is made of, beside how the loop ended."""

    run_ref: RunRef
    conversation_id: ConversationId
    shown: Shown
    widgets: Mapping[Marker, Mapping[str, object]]
    usage: Usage
    indexed_through: datetime | None = None
    proposal: Proposal | None = None


def outcome_payload(outcome: RunOutcome, parts: OutcomeParts) -> dict[str, object]:
    """Return the outcome as JSON values; `html` and the label are added by the surface that shows it."""
    return {
        "run_ref": str(parts.run_ref),
        "conversation_id": str(parts.conversation_id),
        "kind": outcome.kind.value,
        "text": parts.shown.text,
        "citations": [
            {
                "handle": c.handle.token,
                "label": c.label,
                "locator": c.locator,
                "document_id": str(c.document_id),
            }
            for c in parts.shown.cited
        ],
        "markers": [
            {"marker": str(m), "kind": m.kind.name, "payload": parts.widgets[m]}
            for m in dict.fromkeys(parts.shown.markers)
            if m in parts.widgets
        ],
        "proposal": proposal_payload(parts.proposal) if parts.proposal else None,
        "reason": _reason(outcome),
        "message": _message(outcome),
        "usage": usage_payload(parts.usage),
        "indexed_through": parts.indexed_through.isoformat() if parts.indexed_through else None,
    }


def proposal_payload(proposal: Proposal) -> dict[str, object]:
    """Return what the person who was shown a proposal may see of it."""
    return {
        "id": str(proposal.id),
        "tool": proposal.tool_name,
        "state": proposal.state.value,
        "arguments": json.loads(proposal.arguments),
        "rendering": dict(proposal.rendering),
        "expires_at": proposal.expires_at.isoformat(),
        "note": proposal.note,
    }


def usage_payload(usage: Usage) -> dict[str, object]:
    """Return tokens and calls; `absent` says that the figures are a lower bound."""
    return {
        "input": usage.input,
        "output": usage.output,
        "total": usage.total,
        "calls": usage.calls,
        "absent": usage.is_absent,
    }


def _reason(outcome: RunOutcome) -> str | None:
    match outcome:
        case Refused(refusal, _):
            return refusal.value
        case Halted(halt, _):
            return halt.value
        case Failed(error, _):
            return error.code
        case Completed() | Proposed():
            return None


def _message(outcome: RunOutcome) -> str | None:
    match outcome:
        case Refused(_, message):
            return str(message)
        case Failed(error, _):
            return str(error.message)
        case Halted():
            return str(STOPPED)
        case Completed() | Proposed():
            return None
