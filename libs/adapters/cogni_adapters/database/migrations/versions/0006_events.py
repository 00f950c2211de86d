"""Events on their way out, subscriptions, deliveries, and the audit log, which takes additions alone."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_COUNTED = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables; what waits in the outbox goes on waiting."""
    op.add_column("outbox", sa.Column("ended_at", _MOMENT))
    op.add_column("outbox", sa.Column("refusal", _TEXT))
    waiting = sa.text("ended_at IS NULL")
    op.create_index(
        "ix_outbox_waiting", "outbox", ["id"], sqlite_where=waiting, postgresql_where=waiting
    )
    op.create_index("ix_outbox_ended_at", "outbox", ["ended_at"])
    op.create_table(
        "component_leases",
        sa.Column("component", _TEXT, nullable=False),
        sa.Column("owner", _TEXT, nullable=False),
        sa.Column("until", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("component", name="pk_component_leases"),
    )
    _subscriptions()
    _deliveries()
    _audit()


def _subscriptions() -> None:
    op.create_table(
        "event_subscriptions",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("types", sa.Text(), nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("since", _MOMENT, nullable=False),
        sa.Column("requested_by", _TEXT, nullable=False),
        sa.Column("requested_at", _MOMENT, nullable=False),
        sa.Column("decided_by", _TEXT),
        sa.Column("secret", _TEXT, nullable=False),
        sa.Column("former_secret", _TEXT),
        sa.Column("former_until", _MOMENT),
        sa.Column("paused_until", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_event_subscriptions"),
    )
    op.create_index(
        "ix_event_subscriptions_tenant_id_requested_at",
        "event_subscriptions",
        ["tenant_id", "requested_at"],
    )


def _deliveries() -> None:
    op.create_table(
        "event_deliveries",
        sa.Column("id", _COUNTED, nullable=False),
        sa.Column("subscription_id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("event_key", _TEXT, nullable=False),
        sa.Column("type", _TEXT, nullable=False),
        sa.Column("body", _TEXT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("since", _MOMENT, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", _MOMENT, nullable=False),
        sa.Column("lease", _TEXT),
        sa.Column("reason", _TEXT),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["event_subscriptions.id"],
            name="fk_event_deliveries_subscription_id_event_subscriptions",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_event_deliveries"),
        sa.UniqueConstraint(
            "subscription_id", "event_key", name="uq_event_deliveries_subscription_id_event_key"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_event_deliveries_subscription_id_state_due_at",
        "event_deliveries",
        ["subscription_id", "state", "due_at"],
    )
    op.create_index("ix_event_deliveries_state_since", "event_deliveries", ["state", "since"])


def _audit() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("actor", _TEXT, nullable=False),
        sa.Column("action", _TEXT, nullable=False),
        sa.Column("subject", _TEXT, nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "number", name="pk_audit_entries"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'entries of the audit log are never changed'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        return
    for change in ("update", "delete"):
        op.execute(
            f"CREATE TRIGGER audit_entries_no_{change} BEFORE {change} ON audit_entries "
            "BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never changed'); END"
        )
