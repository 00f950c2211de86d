"""Search in PostgreSQL keeps the contracts of every search."""

from collections.abc import Callable

import pytest

from cogni_adapters.database.engine import Database
from cogni_adapters.postgres.keyword_search import PostgresKeywordSearchAdapter
from cogni_adapters.postgres.vector_store import PgVectorStoreAdapter
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_testing.contracts.keyword_search import KeywordSearchContract
from cogni_testing.contracts.vector_store import VectorStoreContract

Open = Callable[..., Database]


class TestPgVectorStore(VectorStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_store(self) -> VectorStorePort:
        return PgVectorStoreAdapter(self.open_database())


class TestPostgresKeywordSearch(KeywordSearchContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open, postgres_url: str, url_beside: str) -> None:
        self.open_database = open_database
        self.unused = [url_beside, postgres_url]

    async def make_search(self) -> KeywordSearchPort:
        return PostgresKeywordSearchAdapter(self.open_database(self.unused.pop()))
