"""Runs, their endings and proposals, as several contracts use them."""

from collections.abc import Sequence
from datetime import timedelta

from cogni_domain.events import ConversationStarted
from cogni_domain.ports.run_log import Ending, LogEntry, NumberedDelta, Opened, RunLogPort
from cogni_domain.proposals import Proposal
from cogni_domain.run_record import RunOpening, Sealing
from cogni_engine import (
    CitationDelta,
    Delta,
    DoneDelta,
    FailedDelta,
    MarkerDelta,
    OfferedTool,
    PhaseDelta,
    ProposalDelta,
    RegistrySnapshot,
    RunDelta,
    TokenDelta,
    ToolCompletedDelta,
)
from cogni_kernel import (
    ConversationId,
    DocumentId,
    PrincipalId,
    ProposalId,
    Result,
    RunRef,
    TaskClass,
    TenantId,
    TokenCount,
    Usage,
)
from cogni_testing.assertions import ok
from cogni_testing.doubles import START

ACME = TenantId("acme")
ALICE = PrincipalId("alice")
OWNER = "turn-1"
LEASE_END = START + timedelta(seconds=30)
DONE = DoneDelta({"kind": "completed", "text": "Twenty-eight days."})
FAILED = FailedDelta({"kind": "failed", "text": ""})
EVERY_DELTA: tuple[Delta, ...] = (
    RunDelta("r1", "c1"),
    PhaseDelta("searching", "Looking in the handbook"),
    ToolCompletedDelta("call-1", "search", {"q": "leave é \U0001f600"}, 0.25, {"hits": [1, None]}),
    MarkerDelta("[[CHART:c1]]", "c", {"title": "Headcount", "series": [{"values": [1, 2.5]}]}),
    TokenDelta("Twenty-eight\u0000 days \ud83d [s1]"),
    CitationDelta("s1", "Leave", "page 2"),
    ProposalDelta("p1", {"title": "Book leave"}, "2026-03-03T09:00:00+00:00"),
)


def an_opening(
    run: str = "r1", conversation: str = "c1", *, minutes: int = 0, key: str | None = None
) -> RunOpening:
    """Return the opening of one of alice's runs, so many minutes after START."""
    return RunOpening(
        run_ref=RunRef(run),
        tenant_id=ACME,
        principal=ALICE,
        conversation_id=ConversationId(conversation),
        surface_id="intranet",
        question="How much leave do I get?",
        opened_at=START + timedelta(minutes=minutes),
        scope_digest="scope-1",
        profile_version="default@1",
        model_version="reader@1",
        offered=RegistrySnapshot((OfferedTool("search", "1.0.0", "read", "content.search"),)),
        idempotency_key=key,
        request_digest="request-1",
    )


def a_sealing(
    answer: str = "Twenty-eight days.", *, lineage: Sequence[str] = ("d1",), kind: str = "completed"
) -> Sealing:
    """Return how a run ended, a minute after START."""
    return Sealing(
        kind=kind,
        outcome={"kind": kind, "text": answer},
        answer=answer,
        usage=Usage(TokenCount(120), TokenCount(9), 2, 1, TaskClass.CONVERSATIONAL),
        lineage=frozenset(map(DocumentId, lineage)),
        sealed_at=START + timedelta(minutes=1),
    )


def a_proposal(proposal: str = "p1", run: str = "r1") -> Proposal:
    """Return a change that waits for alice for a day from START on."""
    return Proposal(
        id=ProposalId(proposal),
        tenant_id=ACME,
        run_ref=RunRef(run),
        tool_name="book_leave",
        tool_version="1.0.0",
        arguments='{"days":3}',
        rendering={"title": "Book three days"},
        proposed_to=ALICE,
        proposed_at=START,
        expires_at=START + timedelta(days=1),
    )


def started(opening: RunOpening) -> ConversationStarted:
    """Return the event that goes with a run's opening."""
    return ConversationStarted(
        opening.tenant_id,
        str(opening.conversation_id),
        opening.surface_id,
        opening.principal,
    )


async def open_run(log: RunLogPort, opening: RunOpening, owner: str = OWNER) -> Result[Opened]:
    """Open a run with its event, leased for thirty seconds from START on."""
    return await log.open(opening, owner, LEASE_END, [started(opening)])


def tokens(run: str, epoch: int, first: int, *texts: str) -> LogEntry:
    """Return an entry of one token delta a text."""
    return LogEntry(RunRef(run), epoch, first, [TokenDelta(text) for text in texts], [])


async def seal_run(
    log: RunLogPort, run: str, epoch: int | None, terminal: Delta = DONE
) -> Result[bool]:
    """Seal a run as `a_sealing()` says, without events."""
    return await log.seal(RunRef(run), epoch, Ending(a_sealing(), [terminal]))


async def all_deltas(log: RunLogPort, run: str) -> Sequence[NumberedDelta]:
    """Return every delta of a run."""
    return ok(await log.deltas(RunRef(run), 0, 10_000))
