"""Documents as they stand now, with their passages, rules and gaps."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.dialects import packed, texts, texts_named
from cogni_adapters.database.document_moves import change_rules, move
from cogni_adapters.database.document_rows import (
    CHUNK_QUERY,
    chunk_of,
    chunk_rows,
    corpus_of,
    corpus_row,
    document_of,
    gap_of,
)
from cogni_adapters.database.document_writes import (
    add_chunks,
    add_readers,
    delete_chunks,
    delete_documents,
    family,
    in_place,
    replace_gaps,
    rule_to_write,
    set_rule,
    write_document,
)
from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.predicate_sql import admitted
from cogni_adapters.database.queue import enqueue
from cogni_adapters.database.tables.knowledge import chunks, corpora, documents
from cogni_adapters.database.tables.knowledge import gaps as gaps_table
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort, JobsOf
from cogni_kernel import (
    ChunkId,
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

NO_SUCH = HumanText("There is no such document that you can open.")
TAKEN = HumanText("Another document of this source was written at the same time.")
PARENT_GONE = HumanText("The document that this one is attached to is not there any more.")


class DatabaseDocumentStoreAdapter(DocumentStorePort):
    """Rows decide: every read by a scope is one query with its predicate inside.

    Source:
        DESIGN D2, D7, D16.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_corpus(self, corpus: Corpus) -> Result[Corpus]:
        def work(connection: sa.Connection) -> Result[Corpus]:
            insert_if_new(connection, corpora, corpus_row(corpus))
            query = sa.select(corpora).where(*_is_corpus(corpus))
            return Ok(corpus_of(connection.execute(query).one()))

        return await self._database.write(work)

    async def corpora(self, tenant: TenantId) -> Result[Sequence[Corpus]]:
        query = sa.select(corpora).where(corpora.c.tenant_id == str(tenant)).order_by(corpora.c.id)
        return await self._database.read(
            lambda connection: Ok([corpus_of(row) for row in connection.execute(query)])
        )

    async def note_indexed_through(self, corpus: Corpus, moment: datetime) -> Result[None]:
        statement = sa.update(corpora).where(*_is_corpus(corpus)).values(indexed_through=moment)

        def work(connection: sa.Connection) -> Result[None]:
            connection.execute(statement)
            return Ok(None)

        return await self._database.write(work)

    async def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        jobs: Sequence[Job],
        gaps: Sequence[Gap] | None = None,
    ) -> Result[None]:
        rows = chunk_rows(document, chunks)
        place = (document.tenant_id, document.corpus_id, document.source_id)

        def work(connection: sa.Connection) -> Result[None]:
            rule = rule_to_write(connection, document)
            if rule is None:
                return Err(NotFoundError(PARENT_GONE))
            found = in_place(connection, document)
            if found - {str(document.id)}:
                return Err(ConflictError(TAKEN, retryable=True))
            if write_document(connection, document, rule):
                if found:
                    delete_chunks(connection, document)
                    ids = family(connection, document.tenant_id, [document.id])
                    set_rule(connection, document.tenant_id, ids, rule)
                else:
                    add_readers(connection, document.tenant_id, [str(document.id)], rule)
                add_chunks(connection, rows)
                _enqueue_all(connection, jobs)
                if gaps is not None:
                    replace_gaps(connection, *place, gaps)
            return Ok(None)

        return await self._database.write(work)

    async def change_rule(
        self, tenant: TenantId, document: DocumentId, rule: AccessRule, jobs: Sequence[Job]
    ) -> Result[None]:
        def work(connection: sa.Connection) -> Result[None]:
            set_rule(connection, tenant, family(connection, tenant, [document]), rule)
            _enqueue_all(connection, jobs)
            return Ok(None)

        return await self._database.write(work)

    async def change_rules(
        self, tenant: TenantId, rules: Mapping[DocumentId, AccessRule], jobs_of: JobsOf
    ) -> Result[int]:
        return await self._database.write(
            lambda connection: Ok(change_rules(connection, tenant, rules, jobs_of))
        )

    async def move(self, moved: Document, jobs_of: JobsOf) -> Result[bool]:
        return await self._database.write(lambda connection: Ok(move(connection, moved, jobs_of)))

    async def delete(
        self, tenant: TenantId, documents: Sequence[DocumentId], jobs: Sequence[Job]
    ) -> Result[int]:
        def work(connection: sa.Connection) -> Result[int]:
            ids = family(connection, tenant, documents)
            delete_documents(connection, tenant, ids)
            _enqueue_all(connection, jobs)
            return Ok(len(ids))

        return await self._database.write(work)

    async def known(
        self, tenant: TenantId, corpus: CorpusId, source_ids: Sequence[str]
    ) -> Result[Sequence[Document]]:
        wanted = {"of_tenant": str(tenant), "of_corpus": str(corpus), "listed": packed(source_ids)}
        return await self._documents(_KNOWN, wanted)

    async def source_ids(
        self, tenant: TenantId, corpus: CorpusId, after: str, limit: int
    ) -> Result[Sequence[tuple[str, DocumentId]]]:
        query = (
            sa.select(documents.c.source_id, documents.c.id)
            .where(*_in_corpus(tenant, corpus), documents.c.parent_id.is_(None))
            .where(documents.c.source_id > after)
            .order_by(documents.c.source_id, documents.c.id)
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: Ok(
                [(row.source_id, DocumentId(row.id)) for row in connection.execute(query)]
            )
        )

    async def attached(self, tenant: TenantId, document: DocumentId) -> Result[Sequence[Document]]:
        return await self._documents(_ATTACHED, {"of_tenant": str(tenant), "to": str(document)})

    async def chunks_of(
        self, tenant: TenantId, documents: Sequence[DocumentId]
    ) -> Result[Sequence[Chunk]]:
        wanted = {"of_tenant": str(tenant), "listed": packed(map(str, documents))}
        return await self._database.read(
            lambda connection: Ok([chunk_of(row) for row in connection.execute(_CHUNKS_OF, wanted)])
        )

    async def get(self, document: DocumentId, scope: Scope) -> Result[Document]:
        query = sa.select(documents).where(
            documents.c.tenant_id == str(scope.tenant_id),
            documents.c.id == str(document),
            admitted(scope.predicate),
        )

        def work(connection: sa.Connection) -> Result[Document]:
            row = connection.execute(query).one_or_none()
            return Err(NotFoundError(NO_SUCH)) if row is None else Ok(document_of(row))

        return await self._database.read(work)

    async def current(self, chunks: Sequence[ChunkId], scope: Scope) -> Result[Sequence[Chunk]]:
        wanted = list(dict.fromkeys(chunks))
        query = _current_query(wanted, scope)

        def work(connection: sa.Connection) -> Result[Sequence[Chunk]]:
            found = {chunk.id: chunk for chunk in map(chunk_of, connection.execute(query))}
            return Ok([found[chunk] for chunk in wanted if chunk in found])

        return await self._database.read(work)

    async def readable(
        self, documents: Iterable[DocumentId], scope: Scope
    ) -> Result[frozenset[DocumentId]]:
        query = _readable_query(documents, scope)
        return await self._database.read(
            lambda connection: Ok(frozenset(map(DocumentId, connection.scalars(query))))
        )

    async def put_gaps(
        self, tenant: TenantId, corpus: CorpusId, source_id: str, gaps: Sequence[Gap]
    ) -> Result[None]:
        def work(connection: sa.Connection) -> Result[None]:
            replace_gaps(connection, tenant, corpus, source_id, gaps)
            return Ok(None)

        return await self._database.write(work)

    async def gaps(self, tenant: TenantId, corpus: CorpusId) -> Result[Sequence[Gap]]:
        query = (
            sa.select(gaps_table)
            .filter_by(tenant_id=str(tenant), corpus_id=str(corpus))
            .order_by(gaps_table.c.listed_under, gaps_table.c.ordinal)
        )
        return await self._database.read(
            lambda connection: Ok([gap_of(row) for row in connection.execute(query)])
        )

    async def _documents(
        self, query: sa.Select[*tuple[Any, ...]], wanted: Mapping[str, str]
    ) -> Result[Sequence[Document]]:
        return await self._database.read(
            lambda connection: Ok([document_of(row) for row in connection.execute(query, wanted)])
        )


_KNOWN = (
    sa.select(documents)
    .where(documents.c.tenant_id == sa.bindparam("of_tenant"))
    .where(documents.c.corpus_id == sa.bindparam("of_corpus"))
    .where(documents.c.source_id.in_(texts_named("listed")))
    .order_by(documents.c.source_id, documents.c.id)
)
_ATTACHED = (
    sa.select(documents)
    .where(documents.c.tenant_id == sa.bindparam("of_tenant"))
    .where(documents.c.parent_id == sa.bindparam("to"))
    .order_by(documents.c.source_id, documents.c.id)
)
_CHUNKS_OF = CHUNK_QUERY.where(
    chunks.c.tenant_id == sa.bindparam("of_tenant"),
    chunks.c.document_id.in_(texts_named("listed")),
).order_by(chunks.c.document_id, chunks.c.ordinal)


def _is_corpus(corpus: Corpus) -> tuple[sa.ColumnElement[bool], ...]:
    return (corpora.c.tenant_id == str(corpus.tenant_id), corpora.c.id == str(corpus.id))


def _in_corpus(tenant: TenantId, corpus: CorpusId) -> tuple[sa.ColumnElement[bool], ...]:
    return (documents.c.tenant_id == str(tenant), documents.c.corpus_id == str(corpus))


def _current_query(wanted: Sequence[ChunkId], scope: Scope) -> sa.Select[*tuple[Any, ...]]:
    return CHUNK_QUERY.where(
        chunks.c.tenant_id == str(scope.tenant_id),
        chunks.c.id.in_(texts(map(str, wanted))),
        admitted(scope.predicate),
    )


def _readable_query(wanted: Iterable[DocumentId], scope: Scope) -> sa.Select[str]:
    return sa.select(documents.c.id).where(
        documents.c.tenant_id == str(scope.tenant_id),
        documents.c.id.in_(texts(map(str, wanted))),
        admitted(scope.predicate),
    )


def _enqueue_all(connection: sa.Connection, jobs: Sequence[Job]) -> None:
    for job in jobs:
        enqueue(connection, job, Lane.INDEXING)
