"""Who is told of events, what is still to be told, who decided that, and which process does it."""

import sqlalchemy as sa

from cogni_adapters.database.schema import METADATA, AnyText, JsonText, UtcDateTime

_COUNTED = sa.BigInteger().with_variant(sa.Integer, "sqlite")

component_leases = sa.Table(
    "component_leases",
    METADATA,
    sa.Column("component", AnyText, primary_key=True),
    sa.Column("owner", AnyText, nullable=False),
    sa.Column("until", UtcDateTime, nullable=False),
)

event_subscriptions = sa.Table(
    "event_subscriptions",
    METADATA,
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("url", AnyText, nullable=False),
    sa.Column("types", JsonText, nullable=False),
    sa.Column("state", AnyText, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
    sa.Column("requested_by", AnyText, nullable=False),
    sa.Column("requested_at", UtcDateTime, nullable=False),
    sa.Column("decided_by", AnyText),
    sa.Column("secret", AnyText, nullable=False),
    sa.Column("former_secret", AnyText),
    sa.Column("former_until", UtcDateTime),
    # Until when its endpoint wants to be left alone.
    sa.Column("paused_until", UtcDateTime),
    sa.Index(None, "tenant_id", "requested_at"),
)

event_deliveries = sa.Table(
    "event_deliveries",
    METADATA,
    sa.Column("id", _COUNTED, primary_key=True),
    sa.Column("subscription_id", AnyText, sa.ForeignKey("event_subscriptions.id"), nullable=False),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("event_key", AnyText, nullable=False),
    sa.Column("type", AnyText, nullable=False),
    sa.Column("body", AnyText, nullable=False),
    sa.Column("state", AnyText, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    # When it may next be taken, or taken over where it is leased.
    sa.Column("due_at", UtcDateTime, nullable=False),
    sa.Column("lease", AnyText),
    sa.Column("reason", AnyText),
    sa.UniqueConstraint("subscription_id", "event_key"),
    sa.Index(None, "subscription_id", "state", "due_at"),
    sa.Index(None, "state", "since"),
    sqlite_autoincrement=True,
)

audit_entries = sa.Table(
    "audit_entries",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("actor", AnyText, nullable=False),
    sa.Column("action", AnyText, nullable=False),
    sa.Column("subject", AnyText, nullable=False),
    sa.Column("facts", JsonText, nullable=False),
    sa.Column("digest", AnyText, nullable=False),
)
