"""A person's conversations: own ones only, each with a start and an end."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cogni_kernel import ConversationId, DocumentId, PrincipalId, RunRef, TenantId

IDLE_END = timedelta(hours=24)
"""A conversation without a turn for this long has ended."""

WITHHELD = "This part of the conversation rests on a document that you can no longer open."


@dataclass(frozen=True, slots=True)
class Conversation:
    """A series of turns by one person on one surface.

    Attributes:
        title: The first question, shortened. It is content: never in events, audit, telemetry or logs.
        handles_issued: Citation handles so far; the next run goes on from there.
        ended_at: When it ended; None while it is open. A new turn opens it again.
    """

    id: ConversationId
    tenant_id: TenantId
    owner: PrincipalId
    surface_id: str
    title: str
    started_at: datetime
    last_turn_at: datetime
    turn_count: int
    handles_issued: int = 0
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One sealed turn as its conversation keeps it.

    Attributes:
        kind: The value of an `Outcome`.
        answer: The text that was shown.
        lineage: Every document that it came from; all must still be readable for it to be shown again.
    """

    run_ref: RunRef
    asked_at: datetime
    question: str
    answer: str
    kind: str
    lineage: frozenset[DocumentId]
