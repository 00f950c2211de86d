from collections.abc import Callable

import pytest

from cogni_adapters.database.engine import Database
from cogni_adapters.database.profiles import DatabaseProfileStoreAdapter
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_testing.contracts.profile_store import ProfileStoreContract


class TestDatabaseProfileStore(ProfileStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_profile_store(self, clock: ClockPort) -> ProfileStorePort:
        return DatabaseProfileStoreAdapter(self.open_database(), clock)
