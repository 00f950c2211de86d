import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_testing import FrozenClock
from cogni_testing.contracts.access_rules import AccessRulesContract
from cogni_testing.contracts.document_store import DocumentStoreContract
from cogni_testing.contracts.keyword_search import KeywordSearchContract
from cogni_testing.contracts.vector_store import VectorStoreContract


class OneState:
    memory: MemoryState

    @pytest.fixture(autouse=True)
    def a_memory_of_its_own(self) -> None:
        self.memory = MemoryState()

    async def make_store(self) -> MemoryDocumentStoreAdapter:
        return MemoryDocumentStoreAdapter(self.memory)

    async def make_rules(self) -> MemoryAccessRulesAdapter:
        return MemoryAccessRulesAdapter(self.memory)

    async def make_queue(self) -> MemoryQueueAdapter:
        return MemoryQueueAdapter(self.memory, FrozenClock())


class TestMemoryDocumentStore(OneState, DocumentStoreContract):
    pass


class TestMemoryAccessRules(OneState, AccessRulesContract):
    pass


class TestMemoryVectorStore(VectorStoreContract):
    async def make_store(self) -> MemoryVectorStoreAdapter:
        return MemoryVectorStoreAdapter()


class TestMemoryKeywordSearch(KeywordSearchContract):
    async def make_search(self) -> MemoryKeywordSearchAdapter:
        return MemoryKeywordSearchAdapter()
