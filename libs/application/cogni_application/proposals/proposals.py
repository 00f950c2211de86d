"""A person decides; what was accepted runs once."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from cogni_application.proposals.execution import EXECUTION_LIMIT, Execution, prepared
from cogni_domain.access.principal import Principal
from cogni_domain.access.resolver import PrincipalResolver
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.access.tool_offer import ToolCatalogue, ToolContext
from cogni_domain.events import MutationExecuted
from cogni_domain.jobs import LeasedJob
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.durable import DurablePort
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.proposals import DECIDED, EXPIRY, NO_SUCH, Proposal, ProposalState
from cogni_domain.run_record import ConfirmationStep
from cogni_engine import Clock
from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    NotFoundError,
    NotPermittedError,
    Ok,
    ProposalId,
    Result,
    TenantId,
)

SETTLED = frozenset(
    {
        ProposalState.EXECUTED,
        ProposalState.FAILED,
        ProposalState.UNKNOWN,
        ProposalState.DECLINED,
        ProposalState.EXPIRED,
    }
)
DECLINED = frozenset({ProposalState.DECLINED})
ACCEPTED = frozenset(ProposalState) - DECLINED - {ProposalState.PENDING, ProposalState.EXPIRED}

NO_LONGER = HumanText("You are not allowed to make this change any more.")
TOO_LATE = HumanText("This proposal had expired before it could be run.")
STOPPED = "The product stopped while this was being done. Please check whether it happened."

ATTEMPTS = 6
_PATIENCE = {
    ProposalState.EXECUTING: 2 * EXECUTION_LIMIT,
    ProposalState.ACCEPTED: 2 * EXECUTION_LIMIT,
    ProposalState.PENDING: EXPIRY,
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProposalService:
    """Accepts, declines, expires and executes. Every step is one conditional update, so races converge.

    Source:
        COGNI.BUILD spec, package services, "ProposalService"; DESIGN D8.
    """

    proposals: ProposalStorePort
    durable: DurablePort
    transcripts: TranscriptStorePort
    resolver: PrincipalResolver
    scopes: ScopePolicy
    documents: DocumentStorePort
    tools: ToolCatalogue
    clock: Clock
    resources: Mapping[type, object]

    async def accept(
        self, proposal: ProposalId, by: Principal, *, again: bool = False
    ) -> Result[Proposal]:
        """Accept; the tool runs soon after, once.

        Args:
            again: This may be the repetition of a call whose answer was lost: what this person has accepted
                already is returned as it stands.

        Errors:
            NotFoundError: Absent, or shown to somebody else: indistinguishable.
            ConflictError: Expired, or already decided.
            NotPermittedError: The person lacks the tool's grant by now.
        """
        if again and (known := await self._decided_before(proposal, by, ACCEPTED)) is not None:
            return Ok(known)
        found = await self._decidable(proposal, by)
        if isinstance(found, Err):
            return found
        tool = self.tools.find(found.value.tool_name)
        if tool is None or not by.has_grant(tool.grant):
            return Err(NotPermittedError(NO_LONGER))
        decided = await self._decide(found.value, ProposalState.ACCEPTED, by)
        if isinstance(decided, Ok):
            begun = await self.durable.decided(decided.value)
            if isinstance(begun, Err):
                _log.error("proposal %s waits for the sweep: %s", proposal, begun.error)
        return decided

    async def decline(
        self, proposal: ProposalId, by: Principal, *, again: bool = False
    ) -> Result[Proposal]:
        """Decline; nothing happens. `again` and the errors are those of `accept`."""
        if again and (known := await self._decided_before(proposal, by, DECLINED)) is not None:
            return Ok(known)
        found = await self._decidable(proposal, by)
        if isinstance(found, Err):
            return found
        return await self._decide(found.value, ProposalState.DECLINED, by)

    async def shown(self, proposal: ProposalId, to: Principal) -> Result[Proposal]:
        """Return what this person was shown, however it stands.

        Errors:
            NotFoundError: Absent, or shown to somebody else: indistinguishable.
        """
        if to.tenant_id is None:
            return Err(NotFoundError(NO_SUCH))
        found = await self.proposals.get(to.tenant_id, proposal)
        if isinstance(found, Ok) and found.value.proposed_to != to.id:
            return Err(NotFoundError(NO_SUCH))
        return found

    async def settled(self, proposal: Proposal, within: timedelta) -> Result[Proposal]:
        """Return the proposal once its execution has ended, or as it stands after `within`."""
        until = asyncio.get_running_loop().time() + within.total_seconds()
        while True:
            found = await self.proposals.get(proposal.tenant_id, proposal.id)
            late = asyncio.get_running_loop().time() >= until
            if isinstance(found, Err) or found.value.state in SETTLED or late:
                return found
            await asyncio.sleep(0.02)

    async def _decided_before(
        self, proposal: ProposalId, by: Principal, as_: frozenset[ProposalState]
    ) -> Proposal | None:
        if by.tenant_id is None:
            return None
        found = await self.proposals.get(by.tenant_id, proposal)
        if isinstance(found, Err) or found.value.proposed_to != by.id:
            return None
        return found.value if found.value.state in as_ else None

    async def _decidable(self, proposal: ProposalId, by: Principal) -> Result[Proposal]:
        if by.tenant_id is None:
            return Err(NotFoundError(NO_SUCH))
        found = await self.proposals.get(by.tenant_id, proposal)
        if isinstance(found, Err):
            return Err(NotFoundError(NO_SUCH)) if isinstance(found.error, NotFoundError) else found
        return found.value.decidable(by.id, self.clock.now())

    async def _decide(
        self, proposal: Proposal, wanted: ProposalState, by: Principal
    ) -> Result[Proposal]:
        """Decide, if nobody was first; from then on it stands, whatever becomes of its record."""
        now = self.clock.now()
        moved = await self.proposals.transition(proposal.id, ProposalState.PENDING, wanted, now)
        if isinstance(moved, Err):
            return moved
        if not moved.value:
            return await self._was_first(proposal, by)
        step = ConfirmationStep(str(proposal.id), wanted.value, str(by.id))
        noted = await self.transcripts.append(proposal.run_ref, step)
        if isinstance(noted, Err):
            _log.error("the decision on %s is not in its record: %s", proposal.id, noted.error)
        return Ok(replace(proposal, state=wanted))

    async def _was_first(self, proposal: Proposal, by: Principal) -> Result[Proposal]:
        """Return why a decision came too late."""
        found = await self.proposals.get(proposal.tenant_id, proposal.id)
        if isinstance(found, Err):
            return found
        late = found.value.decidable(by.id, self.clock.now())
        return late if isinstance(late, Err) else Err(ConflictError(DECIDED))

    async def expire(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Expire what nobody decided; a decided one is left alone."""
        return [await self._expire(job) for job in jobs]

    async def _expire(self, job: LeasedJob) -> Result[None]:
        moved = await self.proposals.transition(
            ProposalId(job.job.payload["proposal_id"]),
            ProposalState.PENDING,
            ProposalState.EXPIRED,
            self.clock.now(),
        )
        return moved if isinstance(moved, Err) else Ok(None)

    async def execute(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Run what was accepted; a repeated job runs nothing twice."""
        return [await self._execute(job.job.tenant_id, job) for job in jobs]

    async def _execute(self, tenant: TenantId, job: LeasedJob) -> Result[None]:
        proposal_id = ProposalId(job.job.payload["proposal_id"])
        found = await self.proposals.get(tenant, proposal_id)
        if isinstance(found, Err):
            return found
        proposal = found.value
        if proposal.state is not ProposalState.ACCEPTED:
            return Ok(None)
        ready = await self._ready(proposal)
        if isinstance(ready, Err):
            if ready.error.retryable:
                return ready
            note = str(ready.error.message)
            return await self._end(proposal, ProposalState.ACCEPTED, ProposalState.FAILED, note)
        started = await self.proposals.transition(
            proposal.id, ProposalState.ACCEPTED, ProposalState.EXECUTING, self.clock.now()
        )
        if isinstance(started, Err) or not started.value:
            return started if isinstance(started, Err) else Ok(None)
        ended, note = await ready.value.run()
        return await self._end(proposal, ProposalState.EXECUTING, ended, note)

    async def _ready(self, proposal: Proposal) -> Result[Execution]:
        """Check person, grant and expiry again, at the moment of execution; return what is to be called."""
        person = await self.resolver.current(proposal.tenant_id, proposal.proposed_to)
        if isinstance(person, Err):
            return person if person.error.retryable else Err(NotPermittedError(NO_LONGER))
        tool = self.tools.find(proposal.tool_name)
        if tool is None or not person.value.has_grant(tool.grant):
            return Err(NotPermittedError(NO_LONGER))
        if self.clock.now() >= proposal.expires_at:
            return Err(ConflictError(TOO_LATE))
        corpora = await self.documents.corpora(proposal.tenant_id)
        if isinstance(corpora, Err):
            return corpora
        scope = await self.scopes.resolve(person.value, [c.id for c in corpora.value])
        if isinstance(scope, Err):
            return scope
        resources = {**self.resources, ProposalId: proposal.id}
        context = ToolContext(person.value, scope.value, proposal.run_ref, resources)
        return prepared(tool, context, proposal.arguments)

    async def _end(
        self, proposal: Proposal, current: ProposalState, wanted: ProposalState, note: str
    ) -> Result[None]:
        """Write how it ended, again where the database does not answer: the effect has happened by now."""
        events = []
        if wanted is ProposalState.EXECUTED:
            executed = (proposal.tenant_id, proposal.run_ref, proposal.tool_name, proposal.id)
            events.append(MutationExecuted(*executed))
        for attempt in range(ATTEMPTS):
            moved = await self.proposals.transition(
                proposal.id, current, wanted, self.clock.now(), note, events
            )
            if isinstance(moved, Ok):
                break
            await asyncio.sleep(0.05 * 2**attempt)
        return moved.map(lambda _: None)

    async def sweep(self) -> Result[int]:
        """Bring on what a crash left behind: accepted ones run, executing ones become UNKNOWN, old ones expire.

        Returns:
            How many were found.
        """
        now = self.clock.now()
        found: dict[ProposalState, Sequence[Proposal]] = {}
        for state, patience in _PATIENCE.items():
            left = await self.proposals.in_state(state, now - patience)
            if isinstance(left, Err):
                return left
            found[state] = left.value
        for proposal in found[ProposalState.EXECUTING]:
            await self._end(proposal, ProposalState.EXECUTING, ProposalState.UNKNOWN, STOPPED)
        for proposal in found[ProposalState.ACCEPTED]:
            await self.durable.decided(proposal)
        for proposal in found[ProposalState.PENDING]:
            await self._end(proposal, ProposalState.PENDING, ProposalState.EXPIRED, "")
        return Ok(sum(map(len, found.values())))
