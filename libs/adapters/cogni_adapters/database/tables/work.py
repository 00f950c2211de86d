"""Proposals, jobs in lanes, events on their way out, profiles, and what channels showed."""

import sqlalchemy as sa

from cogni_adapters.database.schema import METADATA, AnyText, JsonText, UtcDateTime

_COUNTED = sa.BigInteger().with_variant(sa.Integer, "sqlite")

proposals = sa.Table(
    "proposals",
    METADATA,
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("run_ref", AnyText, sa.ForeignKey("runs.run_ref"), nullable=False),
    sa.Column("tool_name", AnyText, nullable=False),
    sa.Column("tool_version", AnyText, nullable=False),
    sa.Column("arguments", AnyText, nullable=False),
    sa.Column("rendering", JsonText, nullable=False),
    sa.Column("proposed_to", AnyText, nullable=False),
    sa.Column("proposed_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime, nullable=False),
    sa.Column("state", AnyText, nullable=False),
    sa.Column("state_since", UtcDateTime, nullable=False),
    sa.Column("note", AnyText, nullable=False),
    sa.Index(None, "state", "state_since"),
)

jobs = sa.Table(
    "jobs",
    METADATA,
    sa.Column("id", _COUNTED, primary_key=True),
    sa.Column("lane", AnyText, nullable=False),
    sa.Column("kind", AnyText, nullable=False),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("key", AnyText, nullable=False),
    sa.Column("payload", JsonText, nullable=False),
    sa.Column("not_before", UtcDateTime),
    # When the job may next be taken, or taken over where it is leased; None for at once.
    sa.Column("due_at", UtcDateTime),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("cursor", AnyText),
    sa.Column("lease", AnyText),
    sa.Column("reason", AnyText),
    sa.Column("dead", sa.Boolean, nullable=False),
    sqlite_autoincrement=True,
)
_LIVE = ~jobs.c.dead
sa.Index(
    None,
    jobs.c.kind,
    jobs.c.tenant_id,
    jobs.c.key,
    unique=True,
    sqlite_where=_LIVE,
    postgresql_where=_LIVE,
)
sa.Index(None, jobs.c.lane, jobs.c.due_at, jobs.c.id, sqlite_where=_LIVE, postgresql_where=_LIVE)

outbox = sa.Table(
    "outbox",
    METADATA,
    sa.Column("id", _COUNTED, primary_key=True),
    sa.Column("key", AnyText, nullable=False),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("payload", JsonText, nullable=False),
    sa.Column("happened_at", UtcDateTime, nullable=False),
    # When it was published, or refused for good; None for one that waits.
    sa.Column("ended_at", UtcDateTime),
    sa.Column("refusal", AnyText),
    sa.UniqueConstraint("key"),
    sqlite_autoincrement=True,
)
_WAITING = outbox.c.ended_at.is_(None)
sa.Index("ix_outbox_waiting", outbox.c.id, sqlite_where=_WAITING, postgresql_where=_WAITING)
sa.Index(None, outbox.c.ended_at)

profiles = sa.Table(
    "profiles",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("name", AnyText, nullable=False),
    sa.Column("versions", sa.Integer, nullable=False),
    sa.Column("elected", sa.Integer),
    sa.Column("elected_by", AnyText),
    sa.Column("elected_at", UtcDateTime),
)

profile_versions = sa.Table(
    "profile_versions",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("profile_id", AnyText, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("content", JsonText, nullable=False),
    sa.Column("created_by", AnyText, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.ForeignKeyConstraint(["tenant_id", "profile_id"], ["profiles.tenant_id", "profiles.id"]),
)

reference_buckets = sa.Table(
    "reference_buckets",
    METADATA,
    sa.Column("channel", AnyText, primary_key=True),
    sa.Column("kind", AnyText, primary_key=True),
    sa.Column("issued", sa.Integer, nullable=False),
)

kept_references = sa.Table(
    "kept_references",
    METADATA,
    sa.Column("channel", AnyText, primary_key=True),
    sa.Column("kind", AnyText, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("payload", JsonText, nullable=False),
    sa.Column("pinned", sa.Boolean, nullable=False),
    sa.ForeignKeyConstraint(
        ["channel", "kind"], ["reference_buckets.channel", "reference_buckets.kind"]
    ),
)
