"""The schema of PostgreSQL in which indexes have their tables, and pgvector where the server has it."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the schema; each index makes its tables itself, with its first passage."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute("CREATE SCHEMA search")
    known = sa.text("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
    if op.get_bind().scalar(known):
        op.execute("CREATE EXTENSION IF NOT EXISTS vector")
