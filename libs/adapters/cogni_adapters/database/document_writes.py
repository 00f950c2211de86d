"""The steps of a write to the document tables, each within the caller's transaction."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from cogni_adapters.database.access_rules import keep_rule
from cogni_adapters.database.dialects import insert, texts
from cogni_adapters.database.document_rows import Row, document_row, rule_of
from cogni_adapters.database.tables.knowledge import chunks, document_readers, documents
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Document
from cogni_kernel import DocumentId, TenantId


def rule_to_write(connection: sa.Connection, document: Document) -> AccessRule | None:
    """Return the document's rule: its parent's, as it stands now, where it has one; None where that is gone.

    The parent's row is held until the end of the transaction, so that its rule cannot change meanwhile.
    """
    if document.parent is None:
        return document.rule
    query = (
        sa.select(documents.c.rule)
        .where(documents.c.tenant_id == str(document.tenant_id))
        .where(documents.c.id == str(document.parent))
        .with_for_update(read=True)
    )
    found = connection.scalar(query)
    return None if found is None else rule_of(found)


def write_document(connection: sa.Connection, document: Document, rule: AccessRule) -> bool:
    """Insert or replace a document's row; False where the stored version is not older."""
    statement = insert(connection, documents).values(**document_row(document, rule))
    key = (documents.c.tenant_id, documents.c.id)
    changed = {c.name: statement.excluded[c.name] for c in documents.c if not c.primary_key}
    statement = statement.on_conflict_do_update(
        index_elements=key, set_=changed, where=documents.c.version < statement.excluded.version
    )
    return connection.execute(statement).rowcount == 1


def replace_chunks(connection: sa.Connection, document: Document, rows: Sequence[Row]) -> None:
    """Put passages in place of all that the document had."""
    connection.execute(
        sa.delete(chunks)
        .where(chunks.c.tenant_id == str(document.tenant_id))
        .where(chunks.c.document_id == str(document.id))
    )
    if rows:
        connection.execute(sa.insert(chunks), rows)


def family(
    connection: sa.Connection, tenant: TenantId, roots: Iterable[DocumentId]
) -> Sequence[str]:
    """Return the ids that are there of `roots`, and of all that is attached below them."""
    of_tenant = documents.c.tenant_id == str(tenant)
    found = (
        sa.select(documents.c.id)
        .where(of_tenant, documents.c.id.in_(texts(map(str, roots))))
        .cte("family", recursive=True)
    )
    attached = (
        sa.select(documents.c.id)
        .join_from(documents, found, documents.c.parent_id == found.c.id)
        .where(of_tenant)
    )
    return connection.scalars(sa.select(found.union(attached).c.id)).all()


def set_rule(
    connection: sa.Connection, tenant: TenantId, ids: Sequence[str], rule: AccessRule
) -> None:
    """Put these documents under `rule`: its text, its readers, and the rule itself where it is compound."""
    keep_rule(connection, tenant, rule)
    connection.execute(
        sa.update(documents)
        .where(documents.c.tenant_id == str(tenant), documents.c.id.in_(texts(ids)))
        .values(rule=rule.to_json())
    )
    connection.execute(
        sa.delete(document_readers)
        .where(document_readers.c.tenant_id == str(tenant))
        .where(document_readers.c.document_id.in_(texts(ids)))
    )
    rows = [
        {"tenant_id": str(tenant), "document_id": document, "token": token}
        for document in ids
        for token in rule.readers
    ]
    if rows:
        connection.execute(sa.insert(document_readers), rows)
