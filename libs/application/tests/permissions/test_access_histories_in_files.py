"""The same histories over the stores that the product is delivered with: SQLite and Tantivy, in one folder."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.permissions.conftest import Kit, Stores

HISTORIES = 12


@pytest.fixture
async def stores(kit: "Kit", tmp_path: Path) -> AsyncIterator["Stores"]:
    """Everything in files of one folder."""
    url = f"sqlite:///{tmp_path / 'cogni.db'}"
    ok(migrate(url))
    database, keywords = Database(url), TantivyKeywordSearchAdapter(tmp_path / "keywords")
    made = kit.Stores()
    made.documents = DatabaseDocumentStoreAdapter(database)
    made.rules = DatabaseAccessRulesAdapter(database)
    made.queue = DatabaseQueueAdapter(database, made.clock)
    made.directory = DatabaseDirectoryAdapter(database)
    made.vectors, made.keywords = DatabaseVectorStoreAdapter(database), keywords
    yield made
    await keywords.close()
    await database.close()


@pytest.mark.slow
async def test_histories_in_one_folder_show_exactly_what_the_source_allows(
    kit: "Kit", stores: "Stores"
) -> None:
    compared = Counter[str]()
    for seed in range(10_000, 10_000 + HISTORIES):
        history = kit.History(seed, stores)
        await history.run(40)
        compared += history.compared

    assert compared["something, indexed"] > 5 * HISTORIES, compared
