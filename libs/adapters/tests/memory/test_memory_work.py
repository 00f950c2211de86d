from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.durable import MemoryDurableAdapter
from cogni_adapters.memory.profiles import MemoryProfileStoreAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Lane
from cogni_domain.ports.clock import ClockPort
from cogni_engine import MemoryReferenceStore
from cogni_testing import FrozenClock, ok
from cogni_testing.contracts.directory import DirectoryContract
from cogni_testing.contracts.durable import DurableContract
from cogni_testing.contracts.profile_store import ProfileStoreContract
from cogni_testing.contracts.queue import QueueContract
from cogni_testing.contracts.reference_store import ReferenceStoreContract

STEPS = {PROPOSAL_EXPIRE: "expire", PROPOSAL_EXECUTE: "execute"}


class TestMemoryQueue(QueueContract):
    @pytest.fixture(autouse=True)
    def a_memory_of_its_own(self) -> None:
        self.memory = MemoryState()

    async def make_queue(self, clock: FrozenClock) -> MemoryQueueAdapter:
        return MemoryQueueAdapter(self.memory, clock)


class TestMemoryDurable(DurableContract):
    @pytest.fixture(autouse=True)
    def a_memory_of_its_own(self) -> None:
        self.memory, self.clock = MemoryState(), FrozenClock()

    async def make_durable(self) -> MemoryDurableAdapter:
        return MemoryDurableAdapter(self.memory)

    async def called(self, until: datetime) -> Sequence[tuple[str, str]]:
        queue = MemoryQueueAdapter(self.memory, self.clock)
        self.clock.advance(until - self.clock.now())
        found = []
        while taken := ok(await queue.dequeue(Lane.CONVERSATIONAL, timedelta(1))):
            found += [(STEPS[t.job.kind], t.job.payload["proposal_id"]) for t in taken]
            assert ok(await queue.complete(taken)) == 1
        return found


class TestMemoryProfileStore(ProfileStoreContract):
    store: MemoryProfileStoreAdapter | None = None

    async def make_profile_store(self, clock: ClockPort) -> MemoryProfileStoreAdapter:
        self.store = self.store or MemoryProfileStoreAdapter(clock)
        return self.store


class TestMemoryDirectory(DirectoryContract):
    @pytest.fixture(autouse=True)
    def a_directory_of_its_own(self) -> None:
        self.directory = MemoryDirectoryAdapter()

    async def make_directory(self) -> MemoryDirectoryAdapter:
        return self.directory


class TestMemoryReferenceStore(ReferenceStoreContract):
    @pytest.fixture(autouse=True)
    def a_store_of_its_own(self) -> None:
        self.store = MemoryReferenceStore()

    async def make_reference_store(self) -> MemoryReferenceStore:
        return self.store
