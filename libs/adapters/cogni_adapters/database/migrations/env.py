"""Runs migrations on the connection that `migrate` hands over, all in one transaction."""

from alembic import context

import cogni_adapters.database.tables  # noqa: F401 - fills METADATA
from cogni_adapters.database.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
