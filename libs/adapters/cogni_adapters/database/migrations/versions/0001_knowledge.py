"""Knowledge and directory: the first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create every table."""
    _create_access_rules()
    _create_accounts()
    _create_corpora()
    _create_documents()
    _create_gaps()
    _create_grants()
    _create_issuers()
    _create_memberships()
    _create_tenants()
    _create_vectors()
    _create_access_rule_terms()
    _create_chunks()
    _create_document_readers()
    _create_subjects()


def _create_access_rules() -> None:
    op.create_table(
        "access_rules",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("rule", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "digest", name="pk_access_rules"),
    )


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("display_name", _TEXT, nullable=False),
        sa.Column("attributes", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_accounts"),
    )


def _create_corpora() -> None:
    op.create_table(
        "corpora",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("index_generation", sa.Integer(), nullable=False),
        sa.Column("embedder_version", _TEXT, nullable=False),
        sa.Column("indexed_through", _MOMENT),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_corpora"),
    )


def _create_documents() -> None:
    op.create_table(
        "documents",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("corpus_id", _TEXT, nullable=False),
        sa.Column("source_id", _TEXT, nullable=False),
        sa.Column("parent_id", _TEXT),
        sa.Column("title", _TEXT, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("content_digest", _TEXT, nullable=False),
        sa.Column("rule", _TEXT, nullable=False),
        sa.Column("media_type", _TEXT, nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sa.Column("url", _TEXT),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_documents"),
    )
    op.create_index(
        "ix_documents_tenant_id_corpus_id_source_id",
        "documents",
        ["tenant_id", "corpus_id", "source_id"],
        unique=True,
    )
    op.create_index("ix_documents_tenant_id_parent_id", "documents", ["tenant_id", "parent_id"])


def _create_gaps() -> None:
    op.create_table(
        "gaps",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("corpus_id", _TEXT, nullable=False),
        sa.Column("listed_under", _TEXT, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("source_id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("explanation", _TEXT, nullable=False),
        sa.Column("seen_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant_id", "corpus_id", "listed_under", "ordinal", name="pk_gaps"
        ),
    )


def _create_grants() -> None:
    op.create_table(
        "grants",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("grant_key", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "holder", "grant_key", name="pk_grants"),
        sqlite_with_rowid=False,
    )


def _create_issuers() -> None:
    op.create_table(
        "issuers",
        sa.Column("key_id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("algorithm", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("issuer", _TEXT, nullable=False),
        sa.Column("audience", _TEXT, nullable=False),
        sa.Column("loopback_only", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", name="pk_issuers"),
    )


def _create_memberships() -> None:
    op.create_table(
        "memberships",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("principal_id", _TEXT, nullable=False),
        sa.Column("groups", sa.Text(), nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "principal_id", name="pk_memberships"),
    )


def _create_tenants() -> None:
    op.create_table(
        "tenants",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenants"),
    )


def _create_vectors() -> None:
    op.create_table(
        "vectors",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("corpus_id", _TEXT, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("document_id", _TEXT, nullable=False),
        sa.Column("chunk_id", _TEXT, nullable=False),
        sa.Column("readers", sa.Text(), nullable=False),
        sa.Column("embedding", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant_id", "corpus_id", "generation", "document_id", "chunk_id", name="pk_vectors"
        ),
    )


def _create_access_rule_terms() -> None:
    op.create_table(
        "access_rule_terms",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("token", _TEXT, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "digest"],
            ["access_rules.tenant_id", "access_rules.digest"],
            name="fk_access_rule_terms_tenant_id_digest_access_rules",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "token", "digest", name="pk_access_rule_terms"),
        sqlite_with_rowid=False,
    )


def _create_chunks() -> None:
    op.create_table(
        "chunks",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("document_id", _TEXT, nullable=False),
        sa.Column("document_version", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", _TEXT, nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("locator", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "document_id"],
            ["documents.tenant_id", "documents.id"],
            name="fk_chunks_tenant_id_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_chunks"),
    )
    op.create_index(
        "ix_chunks_tenant_id_document_id_ordinal", "chunks", ["tenant_id", "document_id", "ordinal"]
    )


def _create_document_readers() -> None:
    op.create_table(
        "document_readers",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("document_id", _TEXT, nullable=False),
        sa.Column("token", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "document_id"],
            ["documents.tenant_id", "documents.id"],
            name="fk_document_readers_tenant_id_document_id_documents",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "document_id", "token", name="pk_document_readers"),
        sqlite_with_rowid=False,
    )


def _create_subjects() -> None:
    op.create_table(
        "subjects",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("account_id", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "account_id"],
            ["accounts.tenant_id", "accounts.id"],
            name="fk_subjects_tenant_id_account_id_accounts",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "key", name="pk_subjects"),
    )
    op.create_index("ix_subjects_tenant_id_account_id", "subjects", ["tenant_id", "account_id"])
