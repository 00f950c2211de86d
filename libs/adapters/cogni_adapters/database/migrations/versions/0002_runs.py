"""Runs, transcripts, proposals, profiles, references, jobs and the outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.DateTime(timezone=True)
_COUNTED = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create every table."""
    _create_conversations()
    _create_jobs()
    _create_outbox()
    _create_profiles()
    _create_reference_buckets()
    _create_kept_references()
    _create_profile_versions()
    _create_runs()
    _create_proposals()
    _create_run_citations()
    _create_run_deltas()
    _create_run_lineage()
    _create_run_sealings()
    _create_run_steps()
    _create_transcript_reads()


def _create_conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("owner", _TEXT, nullable=False),
        sa.Column("surface_id", _TEXT, nullable=False),
        sa.Column("title", _TEXT, nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("last_turn_at", _MOMENT, nullable=False),
        sa.Column("turn_count", sa.Integer(), nullable=False),
        sa.Column("handles_issued", sa.Integer(), nullable=False),
        sa.Column("ended_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index(
        "ix_conversations_ended_at_last_turn_at", "conversations", ["ended_at", "last_turn_at"]
    )
    op.create_index(
        "ix_conversations_tenant_id_owner_last_turn_at",
        "conversations",
        ["tenant_id", "owner", "last_turn_at"],
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", _COUNTED, nullable=False),
        sa.Column("lane", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("not_before", _MOMENT),
        sa.Column("due_at", _MOMENT),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("cursor", _TEXT),
        sa.Column("lease", _TEXT),
        sa.Column("reason", _TEXT),
        sa.Column("dead", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_jobs_kind_tenant_id_key",
        "jobs",
        ["kind", "tenant_id", "key"],
        unique=True,
        sqlite_where=sa.text("dead = 0"),
        postgresql_where=sa.text("NOT dead"),
    )
    op.create_index(
        "ix_jobs_lane_due_at_id",
        "jobs",
        ["lane", "due_at", "id"],
        sqlite_where=sa.text("dead = 0"),
        postgresql_where=sa.text("NOT dead"),
    )


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", _COUNTED, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("happened_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
        sqlite_autoincrement=True,
    )


def _create_profiles() -> None:
    op.create_table(
        "profiles",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("versions", sa.Integer(), nullable=False),
        sa.Column("elected", sa.Integer()),
        sa.Column("elected_by", _TEXT),
        sa.Column("elected_at", _MOMENT),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_profiles"),
    )


def _create_reference_buckets() -> None:
    op.create_table(
        "reference_buckets",
        sa.Column("channel", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("issued", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "kind", name="pk_reference_buckets"),
    )


def _create_kept_references() -> None:
    op.create_table(
        "kept_references",
        sa.Column("channel", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel", "kind"],
            ["reference_buckets.channel", "reference_buckets.kind"],
            name="fk_kept_references_channel_kind_reference_buckets",
        ),
        sa.PrimaryKeyConstraint("channel", "kind", "number", name="pk_kept_references"),
    )


def _create_profile_versions() -> None:
    op.create_table(
        "profile_versions",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("profile_id", _TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_by", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "profile_id"],
            ["profiles.tenant_id", "profiles.id"],
            name="fk_profile_versions_tenant_id_profile_id_profiles",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "profile_id", "number", name="pk_profile_versions"),
    )


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("conversation_id", _TEXT, nullable=False),
        sa.Column("surface_id", _TEXT, nullable=False),
        sa.Column("question", _TEXT, nullable=False),
        sa.Column("opened_at", _MOMENT, nullable=False),
        sa.Column("scope_digest", _TEXT, nullable=False),
        sa.Column("profile_version", _TEXT, nullable=False),
        sa.Column("model_version", _TEXT, nullable=False),
        sa.Column("offered", sa.Text(), nullable=False),
        sa.Column("idempotency_key", _TEXT),
        sa.Column("request_digest", _TEXT, nullable=False),
        sa.Column("owner", _TEXT, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lease_until", _MOMENT, nullable=False),
        sa.Column("stop_requested", sa.Boolean(), nullable=False),
        sa.Column("last_cursor", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_runs_conversation_id_conversations",
            initially="DEFERRED",
            deferrable=True,
        ),
        sa.PrimaryKeyConstraint("run_ref", name="pk_runs"),
        sa.UniqueConstraint(
            "tenant_id",
            "principal",
            "idempotency_key",
            name="uq_runs_tenant_id_principal_idempotency_key",
        ),
    )
    op.create_index("ix_runs_conversation_id_opened_at", "runs", ["conversation_id", "opened_at"])
    op.create_index(
        "ix_runs_lease_until",
        "runs",
        ["lease_until"],
        sqlite_where=sa.text("sealed = 0"),
        postgresql_where=sa.text("NOT sealed"),
    )
    op.create_index(
        "ix_runs_owner",
        "runs",
        ["owner"],
        sqlite_where=sa.text("sealed = 0"),
        postgresql_where=sa.text("NOT sealed"),
    )


def _create_proposals() -> None:
    op.create_table(
        "proposals",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("tool_name", _TEXT, nullable=False),
        sa.Column("tool_version", _TEXT, nullable=False),
        sa.Column("arguments", _TEXT, nullable=False),
        sa.Column("rendering", sa.Text(), nullable=False),
        sa.Column("proposed_to", _TEXT, nullable=False),
        sa.Column("proposed_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("state_since", _MOMENT, nullable=False),
        sa.Column("note", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["run_ref"], ["runs.run_ref"], name="fk_proposals_run_ref_runs"),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
    )
    op.create_index("ix_proposals_state_state_since", "proposals", ["state", "state_since"])


def _create_run_citations() -> None:
    op.create_table(
        "run_citations",
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("handle", _TEXT, nullable=False),
        sa.Column("label", _TEXT, nullable=False),
        sa.Column("locator", _TEXT, nullable=False),
        sa.Column("document_id", _TEXT, nullable=False),
        sa.Column("chunk_id", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_ref"], ["runs.run_ref"], name="fk_run_citations_run_ref_runs"
        ),
        sa.PrimaryKeyConstraint("run_ref", "handle", name="pk_run_citations"),
        sqlite_with_rowid=False,
    )


def _create_run_deltas() -> None:
    op.create_table(
        "run_deltas",
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("cursor", sa.Integer(), nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_ref"], ["runs.run_ref"], name="fk_run_deltas_run_ref_runs"),
        sa.PrimaryKeyConstraint("run_ref", "cursor", name="pk_run_deltas"),
        sqlite_with_rowid=False,
    )


def _create_run_lineage() -> None:
    op.create_table(
        "run_lineage",
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("document_id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["run_ref"], ["runs.run_ref"], name="fk_run_lineage_run_ref_runs"),
        sa.PrimaryKeyConstraint("run_ref", "document_id", name="pk_run_lineage"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_run_lineage_tenant_id_document_id", "run_lineage", ["tenant_id", "document_id"]
    )


def _create_run_sealings() -> None:
    op.create_table(
        "run_sealings",
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("answer", _TEXT, nullable=False),
        sa.Column("usage", sa.Text(), nullable=False),
        sa.Column("sealed_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["run_ref"], ["runs.run_ref"], name="fk_run_sealings_run_ref_runs"),
        sa.PrimaryKeyConstraint("run_ref", name="pk_run_sealings"),
    )


def _create_run_steps() -> None:
    op.create_table(
        "run_steps",
        sa.Column("id", _COUNTED, nullable=False),
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_ref"], ["runs.run_ref"], name="fk_run_steps_run_ref_runs"),
        sa.PrimaryKeyConstraint("id", name="pk_run_steps"),
    )
    op.create_index("ix_run_steps_run_ref_id", "run_steps", ["run_ref", "id"])


def _create_transcript_reads() -> None:
    op.create_table(
        "transcript_reads",
        sa.Column("id", _COUNTED, nullable=False),
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("reader", _TEXT, nullable=False),
        sa.Column("on_behalf_of", _TEXT),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("read_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_ref"], ["runs.run_ref"], name="fk_transcript_reads_run_ref_runs"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_transcript_reads"),
    )
    op.create_index("ix_transcript_reads_run_ref_id", "transcript_reads", ["run_ref", "id"])
