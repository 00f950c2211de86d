"""Documents, their passages, who may read them, and the vectors of their passages."""

import sqlalchemy as sa

from cogni_adapters.database.schema import METADATA, AnyText, JsonText, UtcDateTime

corpora = sa.Table(
    "corpora",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("name", AnyText, nullable=False),
    sa.Column("index_generation", sa.Integer, nullable=False),
    sa.Column("embedder_version", AnyText, nullable=False),
    sa.Column("indexed_through", UtcDateTime),
)

documents = sa.Table(
    "documents",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("corpus_id", AnyText, nullable=False),
    sa.Column("source_id", AnyText, nullable=False),
    sa.Column("parent_id", AnyText),
    sa.Column("title", AnyText, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("content_digest", AnyText, nullable=False),
    sa.Column("rule", AnyText, nullable=False),
    sa.Column("media_type", AnyText, nullable=False),
    sa.Column("updated_at", UtcDateTime, nullable=False),
    sa.Column("url", AnyText),
    sa.Index(None, "tenant_id", "corpus_id", "source_id", unique=True),
    sa.Index(None, "tenant_id", "parent_id"),
)

document_readers = sa.Table(
    "document_readers",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("document_id", AnyText, primary_key=True),
    sa.Column("token", AnyText, primary_key=True),
    sa.ForeignKeyConstraint(
        ["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"
    ),
    sqlite_with_rowid=False,
)

chunks = sa.Table(
    "chunks",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("document_id", AnyText, nullable=False),
    sa.Column("document_version", sa.BigInteger, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("text", AnyText, nullable=False),
    sa.Column("heading", JsonText, nullable=False),
    sa.Column("locator", AnyText, nullable=False),
    sa.ForeignKeyConstraint(
        ["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"
    ),
    sa.Index(None, "tenant_id", "document_id", "ordinal"),
)

access_rules = sa.Table(
    "access_rules",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("rule", AnyText, nullable=False),
)

access_rule_terms = sa.Table(
    "access_rule_terms",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("token", AnyText, primary_key=True),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.ForeignKeyConstraint(
        ["tenant_id", "digest"],
        ["access_rules.tenant_id", "access_rules.digest"],
        ondelete="CASCADE",
    ),
    sqlite_with_rowid=False,
)

gaps = sa.Table(
    "gaps",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("corpus_id", AnyText, primary_key=True),
    sa.Column("listed_under", AnyText, primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("source_id", AnyText, nullable=False),
    sa.Column("name", AnyText, nullable=False),
    sa.Column("reason", AnyText, nullable=False),
    sa.Column("explanation", AnyText, nullable=False),
    sa.Column("seen_at", UtcDateTime, nullable=False),
)

vectors = sa.Table(
    "vectors",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("corpus_id", AnyText, primary_key=True),
    sa.Column("generation", sa.Integer, primary_key=True),
    sa.Column("document_id", AnyText, primary_key=True),
    sa.Column("chunk_id", AnyText, primary_key=True),
    sa.Column("readers", JsonText, nullable=False),
    sa.Column("embedding", sa.LargeBinary, nullable=False),
)

rebuilds = sa.Table(
    "rebuilds",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("corpus_id", AnyText, primary_key=True),
    sa.Column("generation", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("embedder_version", AnyText, nullable=False),
    sa.Column("previous", sa.Integer, nullable=False),
    sa.Column("previous_embedder", AnyText, nullable=False),
    sa.Column("state", AnyText, nullable=False),
    sa.Column("step", sa.Integer, nullable=False),
    sa.Column("after", AnyText, nullable=False),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("started_at", UtcDateTime, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
)
