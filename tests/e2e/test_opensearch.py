"""Both searches in OpenSearch keep the contracts of every search."""

from collections.abc import Callable

import pytest

from cogni_adapters.opensearch.client import OpenSearchClient
from cogni_adapters.opensearch.keyword_search import OpenSearchKeywordSearchAdapter
from cogni_adapters.opensearch.vector_store import OpenSearchVectorStoreAdapter
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_testing.contracts.keyword_search import KeywordSearchContract
from cogni_testing.contracts.vector_store import VectorStoreContract


class TestOpenSearchVectorStore(VectorStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, opensearch_client: Callable[[], OpenSearchClient]) -> None:
        self.open_client = opensearch_client

    async def make_store(self) -> VectorStorePort:
        return OpenSearchVectorStoreAdapter(self.open_client())


class TestOpenSearchKeywordSearch(KeywordSearchContract):
    @pytest.fixture(autouse=True)
    def _open(self, opensearch_client: Callable[[], OpenSearchClient]) -> None:
        self.open_client = opensearch_client

    async def make_search(self) -> KeywordSearchPort:
        return OpenSearchKeywordSearchAdapter(self.open_client())
