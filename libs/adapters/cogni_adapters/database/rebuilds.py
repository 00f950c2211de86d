"""Rebuilds as rows; the corpus's row says which index serves."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.queue import enqueue
from cogni_adapters.database.tables.knowledge import corpora, documents, rebuilds
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.rebuild import Rebuild, RebuildState
from cogni_domain.ports.rebuild_store import JobsOfRebuild, RebuildStorePort
from cogni_kernel import (
    ConflictError,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    Result,
    TenantId,
)

GONE = HumanText("There is no such corpus.")
BEGUN = HumanText("A rebuild of this corpus began at the same time. Try again.")

_T = rebuilds.c


class DatabaseRebuildStoreAdapter(RebuildStorePort):
    """Conditional updates decide: of many that cut over, one moves the pointer.

    Source:
        DESIGN D7, D9, D17.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self, corpus: Corpus, embedder_version: str, now: datetime, jobs_of: JobsOfRebuild
    ) -> Result[Rebuild]:
        def work(connection: sa.Connection) -> Result[Rebuild]:
            current = _under_way(connection, corpus.tenant_id, corpus.id)
            goes_on = current and current.state is not RebuildState.SERVING
            if current and goes_on and current.embedder_version == embedder_version:
                _enqueue_all(connection, jobs_of(current, None))
                return Ok(current)
            begun = _begun(connection, corpus, embedder_version, now)
            if begun is None:
                return Err(NotFoundError(GONE))
            if current:
                connection.execute(_to(current, RebuildState.RELEASED, now))
            if not insert_if_new(connection, rebuilds, _row(begun)):
                return Err(ConflictError(BEGUN, retryable=True))
            _enqueue_all(connection, jobs_of(begun, current))
            return Ok(begun)

        return await self._database.write(work)

    async def under_way(self, tenant: TenantId, corpus: CorpusId) -> Result[Rebuild | None]:
        return await self._database.read(
            lambda connection: Ok(_under_way(connection, tenant, corpus))
        )

    async def documents(
        self, tenant: TenantId, corpus: CorpusId, after: str, limit: int
    ) -> Result[Sequence[DocumentId]]:
        query = (
            sa.select(documents.c.id)
            .where(*_in_corpus(tenant, corpus), documents.c.id > after)
            .order_by(documents.c.id)
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: Ok([DocumentId(found) for found in connection.scalars(query)])
        )

    async def advance(
        self, rebuild: Rebuild, written: Sequence[DocumentId], now: datetime, jobs: Sequence[Job]
    ) -> Result[bool]:
        changes: dict[str, Any] = {"step": _T.step + 1, "done": _T.done + len(written)}
        if written:
            changes["after"] = str(written[-1])
        if not jobs:
            changes |= {"state": RebuildState.READY.value, "since": now}
        statement = (
            sa.update(rebuilds)
            .where(*_is(rebuild, RebuildState.FILLING), _T.step == rebuild.step)
            .values(**changes)
        )

        def work(connection: sa.Connection) -> Result[bool]:
            if not connection.execute(statement).rowcount:
                return Ok(False)
            _enqueue_all(connection, jobs)
            return Ok(True)

        return await self._database.write(work)

    async def cut_over(self, rebuild: Rebuild, now: datetime) -> Result[bool]:
        to = (rebuild.generation, rebuild.embedder_version)
        moved = _to(rebuild, RebuildState.SERVING, now, RebuildState.READY)
        return await self._move(rebuild, rebuild.previous, to, moved)

    async def roll_back(self, rebuild: Rebuild, now: datetime) -> Result[bool]:
        to = (rebuild.previous, rebuild.previous_embedder)
        moved = _to(rebuild, RebuildState.READY, now, RebuildState.SERVING)
        return await self._move(rebuild, rebuild.generation, to, moved)

    async def _move(
        self, rebuild: Rebuild, generation: int, to: tuple[int, str], moved: sa.Update
    ) -> Result[bool]:
        """Move the pointer from `generation`, together with the rebuild's state; both or neither."""
        pointer = (
            sa.update(corpora)
            .where(
                corpora.c.tenant_id == str(rebuild.tenant_id),
                corpora.c.id == str(rebuild.corpus_id),
                corpora.c.index_generation == generation,
            )
            .values(index_generation=to[0], embedder_version=to[1])
        )

        def work(connection: sa.Connection) -> Result[bool]:
            if not connection.execute(moved).rowcount:
                return Ok(False)
            if not connection.execute(pointer).rowcount:
                return Err(NotFoundError(GONE))
            return Ok(True)

        return await self._database.write(work)


def _begun(
    connection: sa.Connection, corpus: Corpus, embedder_version: str, now: datetime
) -> Rebuild | None:
    """Return a rebuild of the index that serves now, its generation one above all that ever were."""
    place = (corpus.tenant_id, corpus.id)
    serving = connection.execute(
        sa.select(corpora).filter_by(tenant_id=str(corpus.tenant_id), id=str(corpus.id))
    ).one_or_none()
    if serving is None:
        return None
    newest = connection.scalar(sa.select(sa.func.max(_T.generation)).where(*_of(*place))) or 0
    count = sa.select(sa.func.count()).select_from(documents).where(*_in_corpus(*place))
    return Rebuild(
        tenant_id=corpus.tenant_id,
        corpus_id=corpus.id,
        generation=max(newest, serving.index_generation) + 1,
        embedder_version=embedder_version,
        previous=serving.index_generation,
        previous_embedder=serving.embedder_version,
        state=RebuildState.FILLING,
        step=0,
        after="",
        done=0,
        total=connection.scalar(count) or 0,
        started_at=now,
        since=now,
    )


def _under_way(connection: sa.Connection, tenant: TenantId, corpus: CorpusId) -> Rebuild | None:
    query = sa.select(rebuilds).where(*_of(tenant, corpus), _T.state != RebuildState.RELEASED.value)
    row = connection.execute(query.order_by(_T.generation.desc()).limit(1)).one_or_none()
    return None if row is None else _rebuild(row)


def _of(tenant: TenantId, corpus: CorpusId) -> tuple[sa.ColumnElement[bool], ...]:
    return (_T.tenant_id == str(tenant), _T.corpus_id == str(corpus))


def _is(rebuild: Rebuild, state: RebuildState) -> tuple[sa.ColumnElement[bool], ...]:
    place = _of(rebuild.tenant_id, rebuild.corpus_id)
    return (*place, _T.generation == rebuild.generation, _T.state == state.value)


def _to(
    rebuild: Rebuild, state: RebuildState, now: datetime, of: RebuildState | None = None
) -> sa.Update:
    found = _is(rebuild, of or rebuild.state)
    return sa.update(rebuilds).where(*found).values(state=state.value, since=now)


def _in_corpus(tenant: TenantId, corpus: CorpusId) -> tuple[sa.ColumnElement[bool], ...]:
    return (documents.c.tenant_id == str(tenant), documents.c.corpus_id == str(corpus))


def _row(rebuild: Rebuild) -> Mapping[str, object]:
    return {
        "tenant_id": str(rebuild.tenant_id),
        "corpus_id": str(rebuild.corpus_id),
        "generation": rebuild.generation,
        "embedder_version": rebuild.embedder_version,
        "previous": rebuild.previous,
        "previous_embedder": rebuild.previous_embedder,
        "state": rebuild.state.value,
        "step": rebuild.step,
        "after": rebuild.after,
        "done": rebuild.done,
        "total": rebuild.total,
        "started_at": rebuild.started_at,
        "since": rebuild.since,
    }


def _rebuild(row: sa.Row[Any]) -> Rebuild:
    return Rebuild(
        tenant_id=TenantId(row.tenant_id),
        corpus_id=CorpusId(row.corpus_id),
        generation=row.generation,
        embedder_version=row.embedder_version,
        previous=row.previous,
        previous_embedder=row.previous_embedder,
        state=RebuildState(row.state),
        step=row.step,
        after=row.after,
        done=row.done,
        total=row.total,
        started_at=row.started_at,
        since=row.since,
    )


def _enqueue_all(connection: sa.Connection, jobs: Sequence[Job]) -> None:
    for job in jobs:
        enqueue(connection, job, Lane.INDEXING)
