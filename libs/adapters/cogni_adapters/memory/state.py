"""What the adapters over one memory share: tables, as dictionaries.

No adapter waits for anything between reading and writing here, so every call of one is a transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cogni_domain.conversations import Conversation
from cogni_domain.events import Event, idempotency_key
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.citations import Citation
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document
from cogni_domain.knowledge.source import Gap
from cogni_domain.proposals import Proposal
from cogni_domain.reviews import Review
from cogni_domain.run_record import RunOpening, Sealing
from cogni_engine import Delta
from cogni_kernel import ConversationId, CorpusId, DocumentId, ProposalId, RunRef, TenantId


@dataclass(slots=True)
class JobRow:
    """A job as the queue holds it.

    Attributes:
        not_before: When it is due, None for at once.
        leased_until: When its lease runs out, None while it waits.
        dead_because: Why it was parked, None for a job that still counts.
    """

    id: str
    job: Job
    lane: Lane
    not_before: datetime | None
    attempts: int = 0
    cursor: str | None = None
    leased_until: datetime | None = None
    dead_because: str | None = None


@dataclass(slots=True)
class RunRow:
    """A run as its log and its record hold it."""

    opening: RunOpening
    owner: str
    lease_until: datetime
    first_handle: int
    epoch: int = 1
    deltas: list[Delta] = field(default_factory=list)
    steps: list[Mapping[str, object]] = field(default_factory=list)
    citations: dict[str, Citation] = field(default_factory=dict)
    reads: list[Mapping[str, object]] = field(default_factory=list)
    sealing: Sealing | None = None
    stop_requested: bool = False


@dataclass(slots=True)
class ProposalRow:
    """A proposal, and since when it is in its state."""

    proposal: Proposal
    since: datetime


class MemoryState:
    """The tables. `events` is the outbox, in order, each event once."""

    def __init__(self) -> None:
        self.corpora: dict[tuple[TenantId, CorpusId], Corpus] = {}
        self.documents: dict[tuple[TenantId, DocumentId], Document] = {}
        self.chunks: dict[tuple[TenantId, DocumentId], tuple[Chunk, ...]] = {}
        self.gaps: dict[tuple[TenantId, CorpusId, str], tuple[Gap, ...]] = {}
        self.jobs: dict[str, JobRow] = {}
        self.runs: dict[RunRef, RunRow] = {}
        self.conversations: dict[ConversationId, Conversation] = {}
        self.proposals: dict[ProposalId, ProposalRow] = {}
        self.events: dict[str, Event] = {}
        self.reviews: dict[str, Review] = {}
        self._jobs_so_far = 0

    def write_events(self, events: Sequence[Event]) -> None:
        """Add what happened; the same happening is added once."""
        for event in events:
            self.events.setdefault(idempotency_key(event), event)

    def enqueue(self, job: Job, lane: Lane) -> bool:
        """Add a job, unless one of its kind, tenant and key waits or runs."""
        active = (row.job for row in self.jobs.values() if row.dead_because is None)
        if any(_name(found) == _name(job) for found in active):
            return False
        self._jobs_so_far += 1
        row = JobRow(f"job-{self._jobs_so_far}", job, lane, job.not_before)
        self.jobs[row.id] = row
        return True

    def enqueue_all(self, jobs: Sequence[Job], lane: Lane) -> None:
        """Add the jobs that follow from a write."""
        for job in jobs:
            self.enqueue(job, lane)


def _name(job: Job) -> tuple[str, TenantId, str]:
    return job.kind, job.tenant_id, job.key
