"""Documents that get another place or other readers, and are written nothing else of; in the caller's transaction."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from cogni_adapters.database.document_writes import family, set_rule
from cogni_adapters.database.queue import enqueue
from cogni_adapters.database.tables.knowledge import documents, gaps
from cogni_domain.access.rule import AccessRule
from cogni_domain.jobs import Lane
from cogni_domain.knowledge.corpus import Document
from cogni_domain.ports.document_store import JobsOf
from cogni_kernel import DocumentId, TenantId

_OF_FAMILY = sa.select(documents.c.id, documents.c.source_id).where(
    documents.c.tenant_id == sa.bindparam("of_tenant"),
    documents.c.id == sa.bindparam("of_document"),
)
_PLACE = (
    sa.update(documents)
    .where(
        documents.c.tenant_id == sa.bindparam("of_tenant"),
        documents.c.id == sa.bindparam("of_document"),
    )
    .values(source_id=sa.bindparam("new_place"))
)


def change_rules(
    connection: sa.Connection,
    tenant: TenantId,
    rules: Mapping[DocumentId, AccessRule],
    jobs_of: JobsOf,
) -> int:
    """Put documents and what is attached to them under their rules, those of one rule together."""
    alike: defaultdict[str, list[DocumentId]] = defaultdict(list)
    for document, rule in rules.items():
        alike[rule.digest].append(document)
    return sum(
        _change(connection, tenant, group, rules[group[0]], jobs_of) for group in alike.values()
    )


def _change(
    connection: sa.Connection,
    tenant: TenantId,
    roots: Sequence[DocumentId],
    rule: AccessRule,
    jobs_of: JobsOf,
) -> int:
    ids = family(connection, tenant, roots)
    set_rule(connection, tenant, ids, rule)
    for job in jobs_of(list(map(DocumentId, ids)), rule) if ids else ():
        enqueue(connection, job, Lane.INDEXING)
    return len(ids)


def move(connection: sa.Connection, moved: Document, jobs_of: JobsOf) -> bool:
    """Give a document, what is attached to it and its gap list the new place; False where it cannot have it."""
    tenant = {"of_tenant": str(moved.tenant_id)}
    ids = family(connection, moved.tenant_id, [moved.id])
    before = {
        row.id: row.source_id
        for document in ids
        for row in connection.execute(_OF_FAMILY, {**tenant, "of_document": document})
    }
    place = before.get(str(moved.id))
    if place is None or _is_taken(connection, moved):
        return False
    for document, source_id in before.items():
        to = moved.source_id + source_id.removeprefix(place)
        connection.execute(_PLACE, {**tenant, "of_document": document, "new_place": to})
    connection.execute(
        sa.update(documents)
        .where(documents.c.tenant_id == str(moved.tenant_id), documents.c.id == str(moved.id))
        .values(updated_at=moved.updated_at, url=moved.url)
    )
    _move_gaps(connection, moved, place)
    _change(connection, moved.tenant_id, [moved.id], moved.rule, jobs_of)
    return True


def _is_taken(connection: sa.Connection, moved: Document) -> bool:
    other = sa.select(documents.c.id).where(
        documents.c.tenant_id == str(moved.tenant_id),
        documents.c.corpus_id == str(moved.corpus_id),
        documents.c.source_id == moved.source_id,
        documents.c.id != str(moved.id),
    )
    return connection.execute(other).first() is not None


def _move_gaps(connection: sa.Connection, moved: Document, before: str) -> None:
    listed = (
        gaps.c.tenant_id == str(moved.tenant_id),
        gaps.c.corpus_id == str(moved.corpus_id),
        gaps.c.listed_under == before,
    )
    found = connection.execute(sa.select(gaps.c.ordinal, gaps.c.source_id).where(*listed)).all()
    for row in found:
        to = moved.source_id + row.source_id.removeprefix(before)
        connection.execute(
            sa.update(gaps)
            .where(*listed, gaps.c.ordinal == row.ordinal)
            .values(listed_under=moved.source_id, source_id=to)
        )
