"""Conversations, runs with their deltas and steps, what they rest on, and who read their records."""

import sqlalchemy as sa

from cogni_adapters.database.schema import METADATA, AnyText, JsonText, UtcDateTime

_COUNTED = sa.BigInteger().with_variant(sa.Integer, "sqlite")

conversations = sa.Table(
    "conversations",
    METADATA,
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("owner", AnyText, nullable=False),
    sa.Column("surface_id", AnyText, nullable=False),
    sa.Column("title", AnyText, nullable=False),
    sa.Column("started_at", UtcDateTime, nullable=False),
    sa.Column("last_turn_at", UtcDateTime, nullable=False),
    sa.Column("turn_count", sa.Integer, nullable=False),
    sa.Column("handles_issued", sa.Integer, nullable=False),
    sa.Column("ended_at", UtcDateTime),
    sa.Index(None, "tenant_id", "owner", "last_turn_at"),
    sa.Index(None, "ended_at", "last_turn_at"),
)

runs = sa.Table(
    "runs",
    METADATA,
    sa.Column("run_ref", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("principal", AnyText, nullable=False),
    sa.Column(
        "conversation_id",
        AnyText,
        sa.ForeignKey("conversations.id", deferrable=True, initially="DEFERRED"),
        nullable=False,
    ),
    sa.Column("surface_id", AnyText, nullable=False),
    sa.Column("question", AnyText, nullable=False),
    sa.Column("opened_at", UtcDateTime, nullable=False),
    sa.Column("scope_digest", AnyText, nullable=False),
    sa.Column("profile_version", AnyText, nullable=False),
    sa.Column("model_version", AnyText, nullable=False),
    sa.Column("offered", JsonText, nullable=False),
    sa.Column("idempotency_key", AnyText),
    sa.Column("request_digest", AnyText, nullable=False),
    sa.Column("owner", AnyText, nullable=False),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("lease_until", UtcDateTime, nullable=False),
    sa.Column("stop_requested", sa.Boolean, nullable=False),
    sa.Column("last_cursor", sa.Integer, nullable=False),
    sa.Column("sealed", sa.Boolean, nullable=False),
    sa.UniqueConstraint("tenant_id", "principal", "idempotency_key"),
    sa.Index(None, "conversation_id", "opened_at"),
)
_UNSEALED = ~runs.c.sealed
sa.Index(None, runs.c.owner, sqlite_where=_UNSEALED, postgresql_where=_UNSEALED)
sa.Index(None, runs.c.lease_until, sqlite_where=_UNSEALED, postgresql_where=_UNSEALED)

run_deltas = sa.Table(
    "run_deltas",
    METADATA,
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), primary_key=True),
    sa.Column("cursor", sa.Integer, primary_key=True),
    sa.Column("name", AnyText, nullable=False),
    sa.Column("payload", JsonText, nullable=False),
    sqlite_with_rowid=False,
)

run_steps = sa.Table(
    "run_steps",
    METADATA,
    sa.Column("id", _COUNTED, primary_key=True),
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), nullable=False),
    sa.Column("payload", JsonText, nullable=False),
    sa.Index(None, "run_ref", "id"),
)

run_sealings = sa.Table(
    "run_sealings",
    METADATA,
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), primary_key=True),
    sa.Column("kind", AnyText, nullable=False),
    sa.Column("outcome", JsonText, nullable=False),
    sa.Column("answer", AnyText, nullable=False),
    sa.Column("usage", JsonText, nullable=False),
    sa.Column("sealed_at", UtcDateTime, nullable=False),
)

run_lineage = sa.Table(
    "run_lineage",
    METADATA,
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), primary_key=True),
    sa.Column("document_id", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Index(None, "tenant_id", "document_id"),
    sqlite_with_rowid=False,
)

run_citations = sa.Table(
    "run_citations",
    METADATA,
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), primary_key=True),
    sa.Column("handle", AnyText, primary_key=True),
    sa.Column("label", AnyText, nullable=False),
    sa.Column("locator", AnyText, nullable=False),
    sa.Column("document_id", AnyText, nullable=False),
    sa.Column("chunk_id", AnyText, nullable=False),
    sqlite_with_rowid=False,
)

reviews = sa.Table(
    "reviews",
    METADATA,
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), nullable=False),
    sa.Column("by", AnyText, nullable=False),
    sa.Column("verdict", AnyText, nullable=False),
    sa.Column("reasons", JsonText, nullable=False),
    sa.Column("comment", AnyText, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Index(None, "run_ref"),
    sa.Index(None, "tenant_id", "at"),
)

transcript_reads = sa.Table(
    "transcript_reads",
    METADATA,
    sa.Column("id", _COUNTED, primary_key=True),
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), nullable=False),
    sa.Column("reader", AnyText, nullable=False),
    sa.Column("on_behalf_of", AnyText),
    sa.Column("reason", AnyText, nullable=False),
    sa.Column("read_at", UtcDateTime, nullable=False),
    sa.Index(None, "run_ref", "id"),
)
