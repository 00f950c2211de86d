"""Work that outlives a request: by reference, in lanes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cogni_kernel import TenantId


class Lane(Enum):
    """Separate lanes: a reindex cannot slow a conversation."""

    CONVERSATIONAL = "conversational"
    AMBIENT = "ambient"
    INDEXING = "indexing"
    RENDERING = "rendering"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done.

    Attributes:
        kind: Names the handler, `index_document`.
        key: Its idempotency key within the kind: a second job with the same key changes nothing.
        payload: Ids and cursors, never content.
        not_before: Not earlier than this, UTC; None for at once.
    """

    kind: str
    tenant_id: TenantId
    key: str
    payload: Mapping[str, str]
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """A job in somebody's hands.

    Attributes:
        id: The queue's own.
        attempt: From 1.
        cursor: The newest checkpoint, None before the first.
        lease: What proves that the job is still in these hands.
    """

    id: str
    job: Job
    attempt: int
    cursor: str | None
    lease: str


PROPOSAL_EXPIRE = "proposal.expire"
PROPOSAL_EXECUTE = "proposal.execute"
"""Kinds of job that a DurablePort on rows enqueues, each with `proposal_id`."""
