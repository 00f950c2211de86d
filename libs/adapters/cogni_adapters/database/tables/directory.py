"""Tenants, the keys that sign for them, accounts, groups and grants."""

import sqlalchemy as sa

from cogni_adapters.database.schema import METADATA, AnyText, JsonText

tenants = sa.Table(
    "tenants",
    METADATA,
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("name", AnyText, nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("surfaces_off", JsonText, nullable=False, server_default="[]"),
    sa.Column("brand", JsonText, nullable=False, server_default="{}"),
)

issuers = sa.Table(
    "issuers",
    METADATA,
    sa.Column("key_id", AnyText, primary_key=True),
    sa.Column("tenant_id", AnyText, nullable=False),
    sa.Column("algorithm", AnyText, nullable=False),
    sa.Column("key", AnyText, nullable=False),
    sa.Column("issuer", AnyText, nullable=False),
    sa.Column("audience", AnyText, nullable=False),
    sa.Column("loopback_only", sa.Boolean, nullable=False),
    sa.Column("origins", JsonText, nullable=False, server_default="[]"),
)

accounts = sa.Table(
    "accounts",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("id", AnyText, primary_key=True),
    sa.Column("kind", AnyText, nullable=False),
    sa.Column("display_name", AnyText, nullable=False),
    sa.Column("attributes", JsonText, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
)

subjects = sa.Table(
    "subjects",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("key", AnyText, primary_key=True),
    sa.Column("account_id", AnyText, nullable=False),
    sa.ForeignKeyConstraint(
        ["tenant_id", "account_id"], ["accounts.tenant_id", "accounts.id"], ondelete="CASCADE"
    ),
    sa.Index(None, "tenant_id", "account_id"),
)

memberships = sa.Table(
    "memberships",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("principal_id", AnyText, primary_key=True),
    sa.Column("groups", JsonText, nullable=False),
    sa.Column("state", AnyText, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
)

grants = sa.Table(
    "grants",
    METADATA,
    sa.Column("tenant_id", AnyText, primary_key=True),
    sa.Column("holder", AnyText, primary_key=True),
    sa.Column("grant_key", AnyText, primary_key=True),
    sqlite_with_rowid=False,
)
