from collections.abc import Callable

import pytest

from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.engine import Database
from cogni_domain.ports.directory import DirectoryPort
from cogni_testing.contracts.directory import DirectoryContract


class TestDatabaseDirectory(DirectoryContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_directory(self) -> DirectoryPort:
        return DatabaseDirectoryAdapter(self.open_database())
