"""Stores for the histories, and how many of them are run."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_testing import FrozenClock, ok
from cogni_testing.histories import Stores


@pytest.fixture
async def stores_in_files(tmp_path: Path) -> AsyncIterator[Stores]:
    """What the product is delivered with, in one folder: SQLite, its exact vector scan, and Tantivy."""
    url, clock = f"sqlite:///{tmp_path / 'cogni.db'}", FrozenClock()
    ok(migrate(url))
    database, keywords = Database(url), TantivyKeywordSearchAdapter(tmp_path / "keywords")
    yield Stores(
        DatabaseDocumentStoreAdapter(database),
        DatabaseAccessRulesAdapter(database),
        DatabaseQueueAdapter(database, clock),
        DatabaseDirectoryAdapter(database),
        keywords,
        DatabaseVectorStoreAdapter(database),
        clock,
    )
    await keywords.close()
    await database.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test its `seeds`, a part at a time.

    `@pytest.mark.runs("COGNI_HISTORIES", 64, at_once=250)` names the variable that asks for another number.
    """
    marker = metafunc.definition.get_closest_marker("runs")
    if marker is not None:
        variable, usual = marker.args
        count, most = int(os.environ.get(variable, usual)), marker.kwargs["at_once"]
        parts = [range(start, min(start + most, count)) for start in range(0, count, most)]
        metafunc.parametrize("seeds", parts, ids=lambda part: f"{part.start}-{part.stop - 1}")
