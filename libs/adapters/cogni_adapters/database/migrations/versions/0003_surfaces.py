"""What surfaces need: who may frame one, its look, and which are switched off."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add columns, each with its default; nothing that is there changes."""
    op.add_column("issuers", sa.Column("origins", sa.Text(), nullable=False, server_default="[]"))
    op.add_column(
        "tenants", sa.Column("surfaces_off", sa.Text(), nullable=False, server_default="[]")
    )
    op.add_column("tenants", sa.Column("brand", sa.Text(), nullable=False, server_default="{}"))
