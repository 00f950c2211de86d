"""The steps of a write to the document tables, each within the caller's transaction.

Every statement is made once: making one costs more than running it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import sqlalchemy as sa

from cogni_adapters.database.access_rules import keep_rule
from cogni_adapters.database.dialects import insert, packed, texts_named
from cogni_adapters.database.document_rows import Row, document_row, gap_row, rule_of
from cogni_adapters.database.tables.knowledge import chunks, document_readers, documents, gaps
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Document
from cogni_domain.knowledge.source import Gap
from cogni_kernel import CorpusId, DocumentId, TenantId

_TENANT: sa.BindParameter[str] = sa.bindparam("of_tenant")
_LISTED = texts_named("listed")

_RULE_OF_PARENT = (
    sa.select(documents.c.rule)
    .where(documents.c.tenant_id == _TENANT, documents.c.id == sa.bindparam("parent"))
    .with_for_update(read=True)
)
_IN_PLACE = sa.select(documents.c.id).where(
    documents.c.tenant_id == _TENANT,
    (
        (documents.c.corpus_id == sa.bindparam("of_corpus"))
        & (documents.c.source_id == sa.bindparam("of_source"))
    )
    | (documents.c.id == sa.bindparam("of_document")),
)
_DELETE_CHUNKS = sa.delete(chunks).where(
    chunks.c.tenant_id == _TENANT, chunks.c.document_id == sa.bindparam("of_document")
)
_DELETE_DOCUMENTS = sa.delete(documents).where(
    documents.c.tenant_id == _TENANT, documents.c.id.in_(_LISTED)
)
_DELETE_READERS = sa.delete(document_readers).where(
    document_readers.c.tenant_id == _TENANT, document_readers.c.document_id.in_(_LISTED)
)
_DELETE_GAPS = sa.delete(gaps).where(
    gaps.c.tenant_id == _TENANT,
    gaps.c.corpus_id == sa.bindparam("of_corpus"),
    gaps.c.listed_under == sa.bindparam("of_source"),
)
_UPDATE_RULES = (
    sa.update(documents)
    .where(documents.c.tenant_id == _TENANT, documents.c.id.in_(_LISTED))
    .values(rule=sa.bindparam("new_rule"))
)


def _family_query() -> sa.Select[str]:
    found = (
        sa.select(documents.c.id)
        .where(documents.c.tenant_id == _TENANT, documents.c.id.in_(_LISTED))
        .cte("family", recursive=True)
    )
    attached = (
        sa.select(documents.c.id)
        .join_from(documents, found, documents.c.parent_id == found.c.id)
        .where(documents.c.tenant_id == _TENANT)
    )
    return sa.select(found.union(attached).c.id)


_FAMILY = _family_query()


@cache
def _upsert(dialect: str) -> sa.Insert:
    statement = insert(dialect, documents)
    return statement.on_conflict_do_update(
        index_elements=list(documents.primary_key.columns),
        set_={c.name: statement.excluded[c.name] for c in documents.c if not c.primary_key},
        where=documents.c.version < statement.excluded.version,
    )


def rule_to_write(connection: sa.Connection, document: Document) -> AccessRule | None:
    """Return the document's rule: its parent's, as it stands now, where it has one; None where that is gone.

    The parent's row is held until the end of the transaction, so that its rule cannot change meanwhile.
    """
    if document.parent is None:
        return document.rule
    place = {"of_tenant": str(document.tenant_id), "parent": str(document.parent)}
    found = connection.scalar(_RULE_OF_PARENT, place)
    return None if found is None else rule_of(found)


def in_place(connection: sa.Connection, document: Document) -> frozenset[str]:
    """Return the ids of the documents that are where this one goes: itself, and any of the same source."""
    place = {
        "of_document": str(document.id),
        "of_tenant": str(document.tenant_id),
        "of_corpus": str(document.corpus_id),
        "of_source": document.source_id,
    }
    return frozenset(connection.scalars(_IN_PLACE, place))


def write_document(connection: sa.Connection, document: Document, rule: AccessRule) -> bool:
    """Insert or replace a document's row; False where the stored version is not older."""
    statement = _upsert(connection.dialect.name)
    return connection.execute(statement, document_row(document, rule)).rowcount == 1


def add_chunks(connection: sa.Connection, rows: Sequence[Row]) -> None:
    """Write the passages of a document that has none."""
    if rows:
        connection.execute(sa.insert(chunks), rows)


def delete_chunks(connection: sa.Connection, document: Document) -> None:
    """Remove all passages that a document has."""
    place = {"of_tenant": str(document.tenant_id), "of_document": str(document.id)}
    connection.execute(_DELETE_CHUNKS, place)


def replace_gaps(
    connection: sa.Connection,
    tenant: TenantId,
    corpus: CorpusId,
    source_id: str,
    listed: Sequence[Gap],
) -> None:
    """Put a gap list in place of the one that the source document had."""
    of = {"of_tenant": str(tenant), "of_corpus": str(corpus), "of_source": source_id}
    connection.execute(_DELETE_GAPS, of)
    place = {"tenant_id": str(tenant), "corpus_id": str(corpus), "listed_under": source_id}
    rows = [{**place, "ordinal": at, **gap_row(gap)} for at, gap in enumerate(listed)]
    if rows:
        connection.execute(sa.insert(gaps), rows)


def family(
    connection: sa.Connection, tenant: TenantId, roots: Iterable[DocumentId]
) -> Sequence[str]:
    """Return the ids that are there of `roots`, and of all that is attached below them."""
    return connection.scalars(_FAMILY, _listed(tenant, map(str, roots))).all()


def set_rule(
    connection: sa.Connection, tenant: TenantId, ids: Sequence[str], rule: AccessRule
) -> None:
    """Put these documents under `rule`: its text, its readers, and the rule itself where it is compound."""
    place = _listed(tenant, ids)
    connection.execute(_UPDATE_RULES, {**place, "new_rule": rule.to_json()})
    connection.execute(_DELETE_READERS, place)
    add_readers(connection, tenant, ids, rule)


def add_readers(
    connection: sa.Connection, tenant: TenantId, ids: Sequence[str], rule: AccessRule
) -> None:
    """Write who may read documents that nobody may; and the rule itself where it is compound."""
    keep_rule(connection, tenant, rule)
    rows = [
        {"tenant_id": str(tenant), "document_id": document, "token": token}
        for document in ids
        for token in rule.readers
    ]
    if rows:
        connection.execute(sa.insert(document_readers), rows)


def delete_documents(connection: sa.Connection, tenant: TenantId, ids: Sequence[str]) -> None:
    """Remove documents; their passages and readers go with them."""
    connection.execute(_DELETE_DOCUMENTS, _listed(tenant, ids))


def _listed(tenant: TenantId, ids: Iterable[str]) -> Mapping[str, str]:
    return {"of_tenant": str(tenant), "listed": packed(ids)}
