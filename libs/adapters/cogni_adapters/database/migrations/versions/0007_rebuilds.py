"""Rebuilds of indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "rebuilds",
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("corpus_id", _TEXT, nullable=False),
        sa.Column("generation", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("embedder_version", _TEXT, nullable=False),
        sa.Column("previous", sa.Integer(), nullable=False),
        sa.Column("previous_embedder", _TEXT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("after", _TEXT, nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("since", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "corpus_id", "generation", name="pk_rebuilds"),
    )
