from collections.abc import Callable

import pytest

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_testing.contracts.access_rules import AccessRulesContract
from cogni_testing.contracts.document_store import DocumentStoreContract
from cogni_testing.doubles import FrozenClock


class OneFile:
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_store(self) -> DocumentStorePort:
        return DatabaseDocumentStoreAdapter(self.open_database())

    async def make_rules(self) -> AccessRulesPort:
        return DatabaseAccessRulesAdapter(self.open_database())

    async def make_queue(self) -> QueuePort:
        return DatabaseQueueAdapter(self.open_database(), FrozenClock())


class TestDatabaseDocumentStore(OneFile, DocumentStoreContract):
    pass


class TestDatabaseAccessRules(OneFile, AccessRulesContract):
    pass
