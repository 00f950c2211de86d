"""Qdrant keeps the contract of every vector store: a server where QDRANT_URL names one, else the client's local mode."""

import pytest
from qdrant_client import AsyncQdrantClient

from cogni_adapters.qdrant.vector_store import QdrantVectorStoreAdapter
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_testing.contracts.vector_store import VectorStoreContract

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]


class TestQdrantVectorStore(VectorStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, qdrant_client: AsyncQdrantClient, request: pytest.FixtureRequest) -> None:
        self.client = qdrant_client
        self.prefix = f"test-{abs(hash(request.node.nodeid))}"

    async def make_store(self) -> VectorStorePort:
        return QdrantVectorStoreAdapter(self.client, self.prefix)
