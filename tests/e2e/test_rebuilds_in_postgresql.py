"""Rebuilds keep their contract on PostgreSQL as they do on SQLite."""

from collections.abc import Callable

import pytest

from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.database.rebuilds import DatabaseRebuildStoreAdapter
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_domain.ports.rebuild_store import RebuildStorePort
from cogni_testing.contracts.rebuild_store import RebuildStoreContract
from cogni_testing.doubles import FrozenClock


class TestRebuildsOnPostgreSql(RebuildStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_rebuilds(self) -> RebuildStorePort:
        return DatabaseRebuildStoreAdapter(self.open_database())

    async def make_documents(self) -> DocumentStorePort:
        return DatabaseDocumentStoreAdapter(self.open_database())

    async def make_queue(self) -> QueuePort:
        return DatabaseQueueAdapter(self.open_database(), FrozenClock())
