from collections.abc import Callable

import pytest

from cogni_adapters.database.engine import Database
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_testing.contracts.vector_store import VectorStoreContract


class TestDatabaseVectorStore(VectorStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_store(self) -> VectorStorePort:
        return DatabaseVectorStoreAdapter(self.open_database())
