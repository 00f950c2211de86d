"""Conversations and run records in rows; reading a record leaves a row of its own."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.dialects import texts
from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.prepared import fetch_one, write
from cogni_adapters.database.reviews import keep_review, reviews_of
from cogni_adapters.database.run_opening import NO_SUCH_CONVERSATION, NO_SUCH_RUN
from cogni_adapters.database.run_records import past_turns, run_record
from cogni_adapters.database.tables.runs import (
    conversations,
    run_citations,
    run_steps,
    runs,
    transcript_reads,
)
from cogni_domain.access.principal import Principal
from cogni_domain.conversations import Conversation, PastTurn
from cogni_domain.events import ConversationEnded
from cogni_domain.knowledge.citations import Citation, CitationHandle
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.reviews import Review
from cogni_domain.run_record import RunRecord, Step, step_payload
from cogni_kernel import (
    ChunkId,
    ConversationId,
    DocumentId,
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

NO_SUCH_SOURCE = HumanText("There is no such source.")
NO_REASON = HumanText("Say why you need to read this record: the reason is kept with it.")


_ONE = sa.select(conversations).where(
    conversations.c.tenant_id == sa.bindparam("of_tenant"),
    conversations.c.owner == sa.bindparam("by"),
    conversations.c.id == sa.bindparam("conversation"),
)
_OF_RUN = sa.select(runs.c.conversation_id).where(runs.c.run_ref == sa.bindparam("ref"))
_RESERVE = (
    sa.update(conversations)
    .where(conversations.c.id == _OF_RUN.scalar_subquery())
    .values(handles_issued=conversations.c.handles_issued + sa.bindparam("more", type_=sa.Integer))
    .returning(conversations.c.handles_issued)
)
_COUNT = (
    sa.update(conversations)
    .where(conversations.c.id == sa.bindparam("conversation"))
    .where(conversations.c.handles_issued < sa.bindparam("last"))
    .values(handles_issued=sa.bindparam("last"))
)


class DatabaseTranscriptStoreAdapter(TranscriptStorePort):
    """Over the rows that the run log writes.

    Source:
        COGNI.BUILD spec, package ports, "TranscriptStorePort"; DESIGN D23.
    """

    def __init__(self, database: Database, clock: ClockPort) -> None:
        self._database = database
        self._clock = clock

    async def conversations(
        self, tenant: TenantId, owner: PrincipalId, limit: int
    ) -> Result[Sequence[Conversation]]:
        query = (
            _own(tenant, owner)
            .order_by(conversations.c.last_turn_at.desc(), conversations.c.id)
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: Ok([_conversation(row) for row in connection.execute(query)])
        )

    async def conversation(
        self, tenant: TenantId, owner: PrincipalId, conversation: ConversationId
    ) -> Result[tuple[Conversation, Sequence[PastTurn]]]:
        wanted = {"of_tenant": tenant.value, "by": owner.value, "conversation": conversation.value}

        def find(connection: sa.Connection) -> Result[tuple[Conversation, Sequence[PastTurn]]]:
            row = fetch_one(connection, _ONE, **wanted)
            if row is None:
                return Err(NotFoundError(NO_SUCH_CONVERSATION))
            return Ok((_conversation(row), past_turns(connection, conversation)))

        return await self._database.read(find)

    async def begin(self, conversation: Conversation) -> Result[None]:
        own = _own(conversation.tenant_id, conversation.owner)
        mine = own.where(conversations.c.id == conversation.id.value)

        def keep(connection: sa.Connection) -> Result[None]:
            insert_if_new(connection, conversations, _row(conversation))
            found = connection.execute(mine).first()
            return Err(NotFoundError(NO_SUCH_CONVERSATION)) if found is None else Ok(None)

        return await self._database.write(keep)

    async def end_idle(self, before: datetime) -> Result[int]:
        now = self._clock.now()
        idle = conversations.c.last_turn_at < before
        return await self._database.write(lambda connection: Ok(_end(connection, idle, now)))

    async def end(
        self, tenant: TenantId, owner: PrincipalId, conversation: ConversationId
    ) -> Result[None]:
        own = _own(tenant, owner).where(conversations.c.id == conversation.value)
        now = self._clock.now()

        def finish(connection: sa.Connection) -> Result[None]:
            if connection.execute(own).first() is None:
                return Err(NotFoundError(NO_SUCH_CONVERSATION))
            _end(connection, conversations.c.id == conversation.value, now)
            return Ok(None)

        return await self._database.write(finish)

    async def open_ones(
        self, tenant: TenantId, among: Collection[ConversationId]
    ) -> Result[frozenset[ConversationId]]:
        query = sa.select(conversations.c.id).where(
            conversations.c.tenant_id == tenant.value,
            conversations.c.ended_at.is_(None),
            conversations.c.id.in_(texts(c.value for c in among)),
        )
        return await self._database.read(
            lambda connection: Ok(frozenset(map(ConversationId, connection.scalars(query))))
        )

    async def keep_review(self, review: Review) -> Result[None]:
        return await self._database.write(lambda connection: keep_review(connection, review))

    async def reviews(self, run: RunRef) -> Result[Sequence[Review]]:
        return await self._database.read(lambda connection: Ok(reviews_of(connection, run)))

    async def reserve_handles(self, run: RunRef, count: int) -> Result[int]:
        def reserve(connection: sa.Connection) -> Result[int]:
            row = fetch_one(connection, _RESERVE, ref=run.value, more=count)
            if row is None:
                return Err(NotFoundError(NO_SUCH_RUN))
            return Ok(row.handles_issued - count + 1)

        return await self._database.write(reserve)

    async def keep_citations(self, run: RunRef, citations: Sequence[Citation]) -> Result[None]:
        def keep(connection: sa.Connection) -> Result[None]:
            conversation = _conversation_of(connection, run)
            if conversation is None:
                return Err(NotFoundError(NO_SUCH_RUN))
            for citation in citations:
                insert_if_new(connection, run_citations, _citation_row(run, citation))
            _count_handles(connection, conversation, citations)
            return Ok(None)

        return await self._database.write(keep)

    async def citations(self, run: RunRef) -> Result[Sequence[Citation]]:
        query = sa.select(run_citations).where(run_citations.c.run_ref == run.value)

        def find(connection: sa.Connection) -> Result[Sequence[Citation]]:
            found = map(_citation, connection.execute(query))
            return Ok(sorted(found, key=lambda citation: int(citation.handle.token[1:])))

        return await self._database.read(find)

    async def citation(self, run: RunRef, handle: str) -> Result[Citation]:
        query = sa.select(run_citations).where(
            run_citations.c.run_ref == run.value, run_citations.c.handle == handle
        )

        def find(connection: sa.Connection) -> Result[Citation]:
            row = connection.execute(query).first()
            return Err(NotFoundError(NO_SUCH_SOURCE)) if row is None else Ok(_citation(row))

        return await self._database.read(find)

    async def append(self, run: RunRef, step: Step) -> Result[None]:
        def add(connection: sa.Connection) -> Result[None]:
            if _conversation_of(connection, run) is None:
                return Err(NotFoundError(NO_SUCH_RUN))
            row = {"run_ref": run.value, "payload": step_payload(step)}
            connection.execute(sa.insert(run_steps), row)
            return Ok(None)

        return await self._database.write(add)

    async def read(self, run: RunRef, by: Principal, reason: HumanText) -> Result[RunRecord]:
        if reason.is_blank():
            return Err(InvalidArgumentError(NO_REASON))
        row = {
            "run_ref": run.value,
            "reader": by.id.value,
            "on_behalf_of": None if by.on_behalf_of is None else by.on_behalf_of.id.value,
            "reason": reason.value,
            "read_at": self._clock.now(),
        }

        def open_record(connection: sa.Connection) -> Result[RunRecord]:
            tenant = sa.select(runs.c.tenant_id).where(runs.c.run_ref == run.value)
            if by.tenant_id is None or connection.scalar(tenant) != by.tenant_id.value:
                return Err(NotFoundError(NO_SUCH_RUN))
            connection.execute(sa.insert(transcript_reads), row)
            return Ok(run_record(connection, run))

        return await self._database.write(open_record)


def _own(tenant: TenantId, owner: PrincipalId) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(conversations).where(
        conversations.c.tenant_id == tenant.value, conversations.c.owner == owner.value
    )


def _end(connection: sa.Connection, which: sa.ColumnElement[bool], now: datetime) -> int:
    """End those of the open conversations, each that had a turn with its event."""
    ended = connection.execute(
        sa.update(conversations)
        .where(conversations.c.ended_at.is_(None), which)
        .values(ended_at=now)
        .returning(conversations.c.id, conversations.c.tenant_id, conversations.c.turn_count)
    ).all()
    for row in ended:
        last_run = connection.execute(
            sa.select(runs.c.run_ref)
            .where(runs.c.conversation_id == row.id)
            .order_by(runs.c.opened_at.desc(), runs.c.run_ref.desc())
            .limit(1)
        ).scalar()
        if last_run is None:
            continue
        event = ConversationEnded(TenantId(row.tenant_id), row.id, RunRef(last_run), row.turn_count)
        write_events(connection, [event], now)
    return len(ended)


def _conversation_of(connection: sa.Connection, run: RunRef) -> str | None:
    row = fetch_one(connection, _OF_RUN, ref=run.value)
    return None if row is None else row.conversation_id


def _count_handles(
    connection: sa.Connection, conversation: str, citations: Sequence[Citation]
) -> None:
    last = max((int(c.handle.token.removeprefix("s")) for c in citations), default=0)
    write(connection, _COUNT, {"conversation": conversation, "last": last})


def _conversation(row: Any) -> Conversation:
    return Conversation(
        ConversationId(row.id),
        TenantId(row.tenant_id),
        PrincipalId(row.owner),
        row.surface_id,
        row.title,
        row.started_at,
        row.last_turn_at,
        row.turn_count,
        row.handles_issued,
        row.ended_at,
    )


def _row(conversation: Conversation) -> dict[str, object]:
    return {
        **asdict(conversation),
        "id": conversation.id.value,
        "tenant_id": conversation.tenant_id.value,
        "owner": conversation.owner.value,
    }


def _citation_row(run: RunRef, citation: Citation) -> dict[str, object]:
    return {
        "run_ref": run.value,
        "handle": citation.handle.token,
        "label": citation.label,
        "locator": citation.locator,
        "document_id": citation.document_id.value,
        "chunk_id": citation.chunk_id.value,
    }


def _citation(row: sa.Row[*tuple[Any, ...]]) -> Citation:
    return Citation(
        CitationHandle(row.handle),
        row.label,
        row.locator,
        DocumentId(row.document_id),
        ChunkId(row.chunk_id),
    )
