"""Rows of documents and passages as values, and back."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import sqlalchemy as sa

from cogni_adapters.database.tables.knowledge import chunks, documents
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document, IndexId
from cogni_domain.knowledge.source import Gap
from cogni_kernel import ChunkId, CorpusId, DocumentId, TenantId

CHUNK_QUERY = sa.select(
    chunks, documents.c.corpus_id, documents.c.title, documents.c.rule
).select_from(
    chunks.join(
        documents,
        (documents.c.tenant_id == chunks.c.tenant_id)
        & (documents.c.id == chunks.c.document_id)
        & (documents.c.version == chunks.c.document_version),
    )
)
"""Passages of current versions, with what they take from their documents as these stand now."""

Row: TypeAlias = Mapping[str, object]
"""What is written."""

Record: TypeAlias = sa.Row[*tuple[Any, ...]]
"""What is read."""


def document_row(document: Document, rule: AccessRule) -> Row:
    """Return a document's row under the rule that it gets."""
    return {
        "tenant_id": str(document.tenant_id),
        "id": str(document.id),
        "corpus_id": str(document.corpus_id),
        "source_id": document.source_id,
        "parent_id": None if document.parent is None else str(document.parent),
        "title": document.title,
        "version": document.version,
        "content_digest": document.content_digest,
        "rule": rule.to_json(),
        "media_type": document.media_type,
        "updated_at": document.updated_at,
        "url": document.url,
    }


def document_of(row: Record) -> Document:
    """Return the document of a row of `documents`."""
    return Document(
        id=DocumentId(row.id),
        tenant_id=TenantId(row.tenant_id),
        corpus_id=CorpusId(row.corpus_id),
        source_id=row.source_id,
        title=row.title,
        version=row.version,
        content_digest=row.content_digest,
        rule=rule_of(row.rule),
        media_type=row.media_type,
        updated_at=row.updated_at,
        parent=None if row.parent_id is None else DocumentId(row.parent_id),
        url=row.url,
    )


def chunk_rows(document: Document, passages: Sequence[Chunk]) -> list[Row]:
    """Return the rows of a document's passages.

    Raises:
        ValueError: A passage is of another document, or of another version.
    """
    of = (document.tenant_id, document.id, document.version)
    if strangers := [
        c.id for c in passages if (c.tenant_id, c.document_id, c.document_version) != of
    ]:
        raise ValueError(f"not passages of {document.id}, version {document.version}: {strangers}")
    return [
        {
            "tenant_id": str(chunk.tenant_id),
            "id": str(chunk.id),
            "document_id": str(chunk.document_id),
            "document_version": chunk.document_version,
            "ordinal": chunk.ordinal,
            "text": chunk.text,
            "heading": chunk.heading,
            "locator": chunk.locator,
        }
        for chunk in passages
    ]


def chunk_of(row: Record) -> Chunk:
    """Return the passage of a row of `CHUNK_QUERY`, with its document's readers of now."""
    return Chunk(
        id=ChunkId(row.id),
        document_id=DocumentId(row.document_id),
        tenant_id=TenantId(row.tenant_id),
        corpus_id=CorpusId(row.corpus_id),
        title=row.title,
        ordinal=row.ordinal,
        text=row.text,
        heading=tuple(cast(list[str], row.heading)),
        locator=row.locator,
        readers=readers_of(row.rule),
        document_version=row.document_version,
    )


def corpus_row(corpus: Corpus) -> Row:
    """Return a corpus's row."""
    return {
        "tenant_id": str(corpus.tenant_id),
        "id": str(corpus.id),
        "name": corpus.name,
        "index_generation": corpus.index.generation,
        "embedder_version": corpus.embedder_version,
        "indexed_through": corpus.indexed_through,
    }


def corpus_of(row: Record) -> Corpus:
    """Return the corpus of a row of `corpora`."""
    tenant, corpus = TenantId(row.tenant_id), CorpusId(row.id)
    return Corpus(
        id=corpus,
        tenant_id=tenant,
        name=row.name,
        index=IndexId(tenant, corpus, row.index_generation),
        embedder_version=row.embedder_version,
        indexed_through=row.indexed_through,
    )


def gap_row(gap: Gap) -> Row:
    """Return what a gap's row holds beside its place on the list."""
    return {
        "source_id": gap.source_id,
        "name": gap.name,
        "reason": gap.reason,
        "explanation": gap.explanation,
        "seen_at": gap.seen_at,
    }


def gap_of(row: Record) -> Gap:
    """Return the gap of a row of `gaps`."""
    return Gap(row.source_id, row.name, row.reason, row.explanation, row.seen_at)


@lru_cache(maxsize=4096)
def rule_of(text: str) -> AccessRule:
    """Read a rule's JSON; many documents share one."""
    return AccessRule.from_json(text)


@lru_cache(maxsize=4096)
def readers_of(text: str) -> frozenset[ReaderToken]:
    """Return the reader tokens of a rule's JSON."""
    return rule_of(text).readers
