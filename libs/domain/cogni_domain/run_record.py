"""What happened in one run: appended step by step, then sealed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TypeAlias

from cogni_engine import EngineStep, RegistrySnapshot
from cogni_kernel import ConversationId, DocumentId, PrincipalId, RunRef, TenantId, Usage


@dataclass(frozen=True, slots=True)
class ConfirmationStep:
    """A person decided on a proposal."""

    proposal_id: str
    decision: str
    by: str


@dataclass(frozen=True, slots=True)
class RetrievalStep:
    """One retrieval decision: what was found, what was cut and why. Privileged.

    Attributes:
        scope_digest: Of the predicate that retrieval applied.
        chosen: Chunk ids given to the model, best first.
        cut: Chunk ids that were not, each with its reason.
        stale: How many hits the database refused: revoked, retracted or of an old version.
    """

    scope_digest: str
    chosen: tuple[str, ...]
    cut: Mapping[str, str]
    stale: int


@dataclass(frozen=True, slots=True)
class StripStep:
    """Something unverified was kept from the glass."""

    kind: str
    text: str


Step: TypeAlias = EngineStep | ConfirmationStep | RetrievalStep | StripStep


def step_payload(step: Step) -> dict[str, object]:
    """Return a step as JSON values, its class under `step`."""
    payload = asdict(step)
    if isinstance(usage := payload.get("usage"), dict):
        usage["task_class"] = getattr(usage["task_class"], "value", None)
    return {"step": type(step).__name__.removesuffix("Step"), **payload}


@dataclass(frozen=True, slots=True)
class RunOpening:
    """What is known when a run begins.

    Attributes:
        idempotency_key: The caller's; the same key of the same person gives the same run, again.
        request_digest: Of the request's body; the same key with another body is a conflict.
        scope_digest: Of the predicate that turn resolved.
        profile_version: WHICH instructions, `default@3`.
        model_version: Pinned, never an alias.
        offered: What was OFFERED, not merely called.
    """

    run_ref: RunRef
    tenant_id: TenantId
    principal: PrincipalId
    conversation_id: ConversationId
    surface_id: str
    question: str
    opened_at: datetime
    scope_digest: str
    profile_version: str
    model_version: str
    offered: RegistrySnapshot
    idempotency_key: str | None = None
    request_digest: str = ""


@dataclass(frozen=True, slots=True)
class Sealing:
    """What is known when a run ends.

    Attributes:
        kind: The value of an `Outcome`.
        outcome: The outcome as the contract names it; the terminal delta carries the same.
        answer: The text that was shown.
        lineage: Every document that the answer came from.
    """

    kind: str
    outcome: Mapping[str, object]
    answer: str
    usage: Usage
    lineage: frozenset[DocumentId]
    sealed_at: datetime


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run, whole.

    Source:
        COGNI.BUILD spec, package domain, "RunRecord".
    """

    opening: RunOpening
    steps: tuple[Mapping[str, object], ...] = ()
    sealing: Sealing | None = None
    reads: tuple[Mapping[str, object], ...] = field(default=())
