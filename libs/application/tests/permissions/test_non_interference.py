"""An answer equals that of a world without what its reader may not see: what is found, in which order, at which score.

Ten questions a world. `COGNI_WORLDS=2000` and `COGNI_WORLDS_IN_FILES=2000` run that many, in memory and in files.
"""

from dataclasses import replace
from typing import Any

import pytest

from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter, _scored
from cogni_adapters.memory.partition import best
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_kernel import Ok
from cogni_testing import HashEmbedder
from cogni_testing.histories import DifferenceError, Stores, compare_worlds

AT_ONCE = 8


def in_memory() -> Stores:
    return Stores.in_memory(HashEmbedder(32))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.runs("COGNI_WORLDS", 500, at_once=250)
async def test_what_is_hidden_leaves_no_trace_in_memory(seeds: range) -> None:
    telling = [await compare_worlds([seed], in_memory()) for seed in seeds]

    assert sum(telling) > 0.6 * len(seeds)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.runs("COGNI_WORLDS_IN_FILES", 16, at_once=250)
async def test_what_is_hidden_leaves_no_trace_in_files(
    seeds: range, stores_in_files: Stores
) -> None:
    stores = replace(stores_in_files, embedder=HashEmbedder(32))
    telling = 0
    for start in range(0, len(seeds), AT_ONCE):
        telling += await compare_worlds(seeds[start : start + AT_ONCE], stores)

    assert telling > 0.6 * len(seeds)


async def test_words_that_are_counted_among_all_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def search(
        self: MemoryKeywordSearchAdapter, index: Any, terms: Any, wanted: Any, k: int
    ) -> Any:
        rows = self._partitions[index]
        visible = {row.chunk.id for row in rows.visible(wanted)}
        scored = _scored(list(rows._rows.values()), sorted(set(terms)))
        return Ok(best([hit for hit in scored if hit.chunk_id in visible], k))

    monkeypatch.setattr(MemoryKeywordSearchAdapter, "search", search)

    with pytest.raises(DifferenceError):
        await compare_worlds(range(20), in_memory())


async def test_hits_that_are_dropped_after_the_search_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = MemoryVectorStoreAdapter.knn

    async def knn(
        self: MemoryVectorStoreAdapter, index: Any, vector: Any, wanted: Any, k: int
    ) -> Any:
        if index not in self._partitions:
            return Ok([])
        widest = replace(wanted, parts=wanted.parts[:1])
        visible = {row.chunk.id for row in self._partitions[index].visible(wanted)}
        found = await whole(self, index, vector, widest, k)
        return found.map(lambda hits: [hit for hit in hits if hit.chunk_id in visible])

    monkeypatch.setattr(MemoryVectorStoreAdapter, "knn", knn)

    with pytest.raises(DifferenceError):
        await compare_worlds(range(20), in_memory())
