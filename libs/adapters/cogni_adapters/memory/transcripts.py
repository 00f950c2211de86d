"""Run records and conversations, in memory."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from cogni_adapters.memory.state import MemoryState, RunRow
from cogni_domain.access.principal import Principal
from cogni_domain.conversations import Conversation, PastTurn
from cogni_domain.events import ConversationEnded
from cogni_domain.knowledge.citations import Citation
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.reviews import Review
from cogni_domain.run_record import RunRecord, Step, step_payload
from cogni_kernel import (
    ConversationId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    Ok,
    PrincipalId,
    Result,
    RunRef,
    TenantId,
)

NO_CONVERSATION = Err(NotFoundError(HumanText("There is no such conversation.")))
NO_RUN = Err(NotFoundError(HumanText("There is no such answer.")))
NO_SOURCE = Err(NotFoundError(HumanText("There is no such source in this answer.")))
NO_REASON = Err(InvalidArgumentError(HumanText("Say why you need to read this conversation.")))


class MemoryTranscriptStoreAdapter(TranscriptStorePort):
    """Reads what the run log over the same state wrote."""

    def __init__(self, state: MemoryState, clock: ClockPort) -> None:
        self._state = state
        self._clock = clock

    async def conversations(
        self, tenant: TenantId, owner: PrincipalId, limit: int
    ) -> Result[Sequence[Conversation]]:
        own = [
            found
            for found in self._state.conversations.values()
            if (found.tenant_id, found.owner) == (tenant, owner)
        ]
        return Ok(sorted(own, key=lambda c: (c.last_turn_at, c.id), reverse=True)[:limit])

    async def conversation(
        self, tenant: TenantId, owner: PrincipalId, conversation: ConversationId
    ) -> Result[tuple[Conversation, Sequence[PastTurn]]]:
        found = self._state.conversations.get(conversation)
        if found is None or (found.tenant_id, found.owner) != (tenant, owner):
            return NO_CONVERSATION
        turns = [turn for row in self._runs_of(conversation) if (turn := _past(row)) is not None]
        return Ok((found, turns))

    async def begin(self, conversation: Conversation) -> Result[None]:
        found = self._state.conversations.setdefault(conversation.id, conversation)
        same = (found.tenant_id, found.owner) == (conversation.tenant_id, conversation.owner)
        return Ok(None) if same else NO_CONVERSATION

    async def end_idle(self, before: datetime) -> Result[int]:
        idle = [
            found
            for found in self._state.conversations.values()
            if found.ended_at is None and found.last_turn_at < before
        ]
        for found in idle:
            self._end(found)
        return Ok(len(idle))

    async def end(
        self, tenant: TenantId, owner: PrincipalId, conversation: ConversationId
    ) -> Result[None]:
        found = self._state.conversations.get(conversation)
        if found is None or (found.tenant_id, found.owner) != (tenant, owner):
            return NO_CONVERSATION
        if found.ended_at is None:
            self._end(found)
        return Ok(None)

    async def open_ones(
        self, tenant: TenantId, among: Collection[ConversationId]
    ) -> Result[frozenset[ConversationId]]:
        every = self._state.conversations.values()
        going_on = {c.id for c in every if c.tenant_id == tenant and c.ended_at is None}
        return Ok(frozenset(among) & going_on)

    def _end(self, found: Conversation) -> None:
        self._state.conversations[found.id] = replace(found, ended_at=self._clock.now())
        if runs := self._runs_of(found.id):
            last = runs[-1].opening.run_ref
            event = ConversationEnded(found.tenant_id, str(found.id), last, found.turn_count)
            self._state.write_events([event])

    async def keep_review(self, review: Review) -> Result[None]:
        row = self._state.runs.get(review.run_ref)
        if row is None or row.opening.tenant_id != review.tenant_id:
            return NO_RUN
        if review.id not in self._state.reviews:
            self._state.reviews[review.id] = review
            self._state.write_events(review.events())
        return Ok(None)

    async def reviews(self, run: RunRef) -> Result[Sequence[Review]]:
        found = [review for review in self._state.reviews.values() if review.run_ref == run]
        return Ok(sorted(found, key=lambda review: (review.at, review.id)))

    async def reserve_handles(self, run: RunRef, count: int) -> Result[int]:
        row = self._state.runs.get(run)
        if row is None:
            return NO_RUN
        conversation = self._state.conversations[row.opening.conversation_id]
        first = conversation.handles_issued + 1
        counted = replace(conversation, handles_issued=conversation.handles_issued + count)
        self._state.conversations[conversation.id] = counted
        return Ok(first)

    async def keep_citations(self, run: RunRef, citations: Sequence[Citation]) -> Result[None]:
        row = self._state.runs.get(run)
        if row is None:
            return NO_RUN
        row.citations.update({citation.handle.token: citation for citation in citations})
        conversation = self._state.conversations[row.opening.conversation_id]
        numbers = (int(citation.handle.token[1:]) for citation in citations)
        issued = max(numbers, default=0)
        if issued > conversation.handles_issued:
            counted = replace(conversation, handles_issued=issued)
            self._state.conversations[conversation.id] = counted
        return Ok(None)

    async def citations(self, run: RunRef) -> Result[Sequence[Citation]]:
        row = self._state.runs.get(run)
        issued = [] if row is None else list(row.citations.values())
        return Ok(sorted(issued, key=lambda citation: int(citation.handle.token[1:])))

    async def citation(self, run: RunRef, handle: str) -> Result[Citation]:
        row = self._state.runs.get(run)
        found = None if row is None else row.citations.get(handle)
        return NO_SOURCE if found is None else Ok(found)

    async def append(self, run: RunRef, step: Step) -> Result[None]:
        row = self._state.runs.get(run)
        if row is None:
            return NO_RUN
        row.steps.append(step_payload(step))
        return Ok(None)

    async def read(self, run: RunRef, by: Principal, reason: HumanText) -> Result[RunRecord]:
        if reason.is_blank():
            return NO_REASON
        row = self._state.runs.get(run)
        if row is None or row.opening.tenant_id != by.tenant_id:
            return NO_RUN
        row.reads.append(
            {
                "by": str(by.id),
                "on_behalf_of": None if by.on_behalf_of is None else str(by.on_behalf_of.id),
                "reason": str(reason),
                "at": self._clock.now().isoformat(),
            }
        )
        return Ok(RunRecord(row.opening, tuple(row.steps), row.sealing, tuple(row.reads)))

    def _runs_of(self, conversation: ConversationId) -> list[RunRow]:
        own = (r for r in self._state.runs.values() if r.opening.conversation_id == conversation)
        return sorted(own, key=lambda row: row.opening.opened_at)


def _past(row: RunRow) -> PastTurn | None:
    if row.sealing is None:
        return None
    return PastTurn(
        run_ref=row.opening.run_ref,
        asked_at=row.opening.opened_at,
        question=row.opening.question,
        answer=row.sealing.answer,
        kind=row.sealing.kind,
        lineage=row.sealing.lineage,
    )
