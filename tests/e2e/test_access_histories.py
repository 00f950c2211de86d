"""In every store that is a server, each tenant's search shows exactly what its source allows, whatever happened.

`COGNI_HISTORIES_IN_STORES=300 make e2e` runs that many at once, as tenants of one store.
"""

import os
from collections.abc import Callable

import pytest
from qdrant_client import AsyncQdrantClient

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.opensearch.client import OpenSearchClient
from cogni_adapters.opensearch.keyword_search import OpenSearchKeywordSearchAdapter
from cogni_adapters.opensearch.vector_store import OpenSearchVectorStoreAdapter
from cogni_adapters.postgres.keyword_search import PostgresKeywordSearchAdapter
from cogni_adapters.postgres.vector_store import PgVectorStoreAdapter
from cogni_adapters.qdrant.vector_store import QdrantVectorStoreAdapter
from cogni_testing import FrozenClock
from cogni_testing.histories import Stores, run_side_by_side

AT_ONCE = int(os.environ.get("COGNI_HISTORIES_IN_STORES", "24"))


async def compared(stores: Stores) -> None:
    """Run the histories; every one asks about both what may be seen and what may not."""
    found = await run_side_by_side(range(AT_ONCE), stores)

    assert found["something, indexed"] > 8 * AT_ONCE, found
    assert found["nothing, indexed"] > 0, found


@pytest.mark.timeout(3_600)
async def test_tenants_of_one_postgresql(open_database: Callable[[], Database]) -> None:
    database, clock = open_database(), FrozenClock()

    await compared(
        Stores(
            DatabaseDocumentStoreAdapter(database),
            DatabaseAccessRulesAdapter(database),
            DatabaseQueueAdapter(database, clock),
            DatabaseDirectoryAdapter(database),
            PostgresKeywordSearchAdapter(database),
            PgVectorStoreAdapter(database),
            clock,
        )
    )


@pytest.mark.timeout(3_600)
async def test_tenants_of_one_opensearch(opensearch_client: Callable[[], OpenSearchClient]) -> None:
    client, memory = opensearch_client(), Stores.in_memory()

    await compared(
        Stores(
            memory.documents,
            memory.rules,
            memory.queue,
            memory.directory,
            OpenSearchKeywordSearchAdapter(client),
            OpenSearchVectorStoreAdapter(client),
            memory.clock,
        )
    )


@pytest.mark.timeout(3_600)
@pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")
@pytest.mark.filterwarnings("ignore:Local mode performs exact")
async def test_tenants_of_one_qdrant(qdrant_client: AsyncQdrantClient) -> None:
    memory = Stores.in_memory()

    await compared(
        Stores(
            memory.documents,
            memory.rules,
            memory.queue,
            memory.directory,
            memory.keywords,
            QdrantVectorStoreAdapter(qdrant_client, "test-histories"),
            memory.clock,
        )
    )
