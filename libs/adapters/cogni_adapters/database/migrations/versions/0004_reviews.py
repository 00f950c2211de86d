"""What people say of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "reviews",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("tenant_id", _TEXT, nullable=False),
        sa.Column("run_ref", _TEXT, nullable=False),
        sa.Column("by", _TEXT, nullable=False),
        sa.Column("verdict", _TEXT, nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("comment", _TEXT, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_ref"], ["runs.run_ref"], name="fk_reviews_run_ref_runs"),
        sa.PrimaryKeyConstraint("id", name="pk_reviews"),
    )
    op.create_index("ix_reviews_run_ref", "reviews", ["run_ref"])
    op.create_index("ix_reviews_tenant_id_at", "reviews", ["tenant_id", "at"])
