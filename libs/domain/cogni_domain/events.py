"""What happened, never what was said: payloads carry handles and metadata alone.

| event | what triggers it |
|---|---|
| ConversationStarted | the first turn of a conversation is opened |
| ConversationEnded | a conversation had no turn for `conversations.IDLE_END` |
| MutationProposed | a run ends Proposed |
| MutationExecuted | an accepted proposal's tool has done its work |
| ArtifactProduced | an artifact is kept in the artifact store |
| CorrectionSubmitted | a person marks an answer as wrong |
| BudgetThreshold | a budget window passes a stated share of its limit |
| ToolFailed | a tool call ends in an error |
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TypeAlias

from cogni_kernel import PrincipalId, ProposalId, RunRef, TenantId


@dataclass(frozen=True, slots=True)
class ConversationStarted:
    """A conversation began."""

    tenant_id: TenantId
    conversation_ref: str
    surface_id: str
    principal_ref: PrincipalId


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """A conversation ended; `run_ref` is its last turn."""

    tenant_id: TenantId
    conversation_ref: str
    run_ref: RunRef
    turn_count: int


@dataclass(frozen=True, slots=True)
class MutationProposed:
    """A change waits for a person."""

    tenant_id: TenantId
    run_ref: RunRef
    tool_name: str
    proposal_id: ProposalId


@dataclass(frozen=True, slots=True)
class MutationExecuted:
    """A change was made."""

    tenant_id: TenantId
    run_ref: RunRef
    tool_name: str
    proposal_id: ProposalId


@dataclass(frozen=True, slots=True)
class ArtifactProduced:
    """A file was made."""

    tenant_id: TenantId
    run_ref: RunRef
    artifact_ref: str
    kind: str


@dataclass(frozen=True, slots=True)
class CorrectionSubmitted:
    """A person said that an answer is wrong."""

    tenant_id: TenantId
    run_ref: RunRef
    review_ref: str


@dataclass(frozen=True, slots=True)
class BudgetThreshold:
    """A budget window filled up to `pct_of_limit`, 0 to 100."""

    tenant_id: TenantId
    window: str
    pct_of_limit: int


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool call failed with an error of this code."""

    tenant_id: TenantId
    run_ref: RunRef
    call_id: str
    tool_name: str
    code: str


Event: TypeAlias = (
    ConversationStarted
    | ConversationEnded
    | MutationProposed
    | MutationExecuted
    | ArtifactProduced
    | CorrectionSubmitted
    | BudgetThreshold
    | ToolFailed
)


def event_payload(event: Event) -> dict[str, object]:
    """Return the event as JSON values, its class under `type`."""
    fields = {
        name: value["value"] if isinstance(value, dict) else value
        for name, value in asdict(event).items()
    }
    return {"type": type(event).__name__, **fields}


def idempotency_key(event: Event) -> str:
    """Return the event's name: the same happening gives the same key, and subscribers drop repeats."""
    text = json.dumps(event_payload(event), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
