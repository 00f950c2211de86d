from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_domain.knowledge.analysis import analyse


@pytest.fixture(scope="session", autouse=True)
def _language_model_is_loaded() -> None:
    analyse("warm")


@pytest.fixture
async def open_search(
    tmp_path: Path,
) -> AsyncIterator[Callable[[str], TantivyKeywordSearchAdapter]]:
    """Opens a search on a folder of that name; all are closed at the end."""
    opened: list[TantivyKeywordSearchAdapter] = []

    def open_one(name: str) -> TantivyKeywordSearchAdapter:
        opened.append(TantivyKeywordSearchAdapter(tmp_path / name))
        return opened[-1]

    yield open_one
    for adapter in opened:
        await adapter.close()
