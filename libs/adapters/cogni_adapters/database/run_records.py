"""Records of runs, read back whole."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.prepared import fetch
from cogni_adapters.database.tables.runs import (
    run_lineage,
    run_sealings,
    run_steps,
    runs,
    transcript_reads,
)
from cogni_domain.conversations import PastTurn
from cogni_domain.run_record import RunOpening, RunRecord, Sealing
from cogni_engine import OfferedTool, RegistrySnapshot
from cogni_kernel import (
    ConversationId,
    DocumentId,
    PrincipalId,
    RunRef,
    TaskClass,
    TenantId,
    Usage,
)

_ITS = runs.c.conversation_id == sa.bindparam("conversation")
_LINEAGES = (
    sa.select(run_lineage.c.run_ref, run_lineage.c.document_id)
    .select_from(sa.join(runs, run_lineage))
    .where(_ITS)
)
_SEALED = (
    sa.select(
        runs.c.run_ref,
        runs.c.opened_at,
        runs.c.question,
        run_sealings.c.answer,
        run_sealings.c.kind,
    )
    .select_from(sa.join(runs, run_sealings))
    .where(_ITS)
    .order_by(runs.c.opened_at, runs.c.run_ref)
)


def past_turns(connection: sa.Connection, conversation: ConversationId) -> Sequence[PastTurn]:
    """Return the sealed turns of a conversation, oldest first."""
    lineage: defaultdict[str, set[DocumentId]] = defaultdict(set)
    for row in fetch(connection, _LINEAGES, conversation=conversation.value):
        lineage[row.run_ref].add(DocumentId(row.document_id))
    return [
        PastTurn(
            RunRef(row.run_ref),
            row.opened_at,
            row.question,
            row.answer,
            row.kind,
            frozenset(lineage[row.run_ref]),
        )
        for row in fetch(connection, _SEALED, conversation=conversation.value)
    ]


def run_record(connection: sa.Connection, run: RunRef) -> RunRecord:
    """Return the record of a run that is there."""
    opening = connection.execute(sa.select(runs).where(runs.c.run_ref == run.value)).one()
    steps = connection.scalars(
        sa.select(run_steps.c.payload)
        .where(run_steps.c.run_ref == run.value)
        .order_by(run_steps.c.id)
    )
    return RunRecord(
        _opening(opening), tuple(steps), _sealing(connection, run), _reads(connection, run)
    )


def _reads(connection: sa.Connection, run: RunRef) -> tuple[Mapping[str, object], ...]:
    rows = connection.execute(
        sa.select(transcript_reads)
        .where(transcript_reads.c.run_ref == run.value)
        .order_by(transcript_reads.c.id)
    )
    return tuple(
        {
            "by": row.reader,
            "on_behalf_of": row.on_behalf_of,
            "reason": row.reason,
            "at": row.read_at.isoformat(),
        }
        for row in rows
    )


def _sealing(connection: sa.Connection, run: RunRef) -> Sealing | None:
    row = connection.execute(
        sa.select(run_sealings).where(run_sealings.c.run_ref == run.value)
    ).first()
    if row is None:
        return None
    lineage = connection.scalars(
        sa.select(run_lineage.c.document_id).where(run_lineage.c.run_ref == run.value)
    )
    return Sealing(
        row.kind,
        row.outcome,
        row.answer,
        _usage(row.usage),
        frozenset(map(DocumentId, lineage)),
        row.sealed_at,
    )


def _usage(payload: Mapping[str, object]) -> Usage:
    task_class = payload["task_class"]
    known = None if task_class is None else TaskClass(task_class)
    return Usage(**{**payload, "task_class": known})  # type: ignore[arg-type]


def _opening(row: sa.Row[*tuple[Any, ...]]) -> RunOpening:
    return RunOpening(
        run_ref=RunRef(row.run_ref),
        tenant_id=TenantId(row.tenant_id),
        principal=PrincipalId(row.principal),
        conversation_id=ConversationId(row.conversation_id),
        surface_id=row.surface_id,
        question=row.question,
        opened_at=row.opened_at,
        scope_digest=row.scope_digest,
        profile_version=row.profile_version,
        model_version=row.model_version,
        offered=RegistrySnapshot(tuple(OfferedTool(**tool) for tool in row.offered)),
        idempotency_key=row.idempotency_key,
        request_digest=row.request_digest,
    )
