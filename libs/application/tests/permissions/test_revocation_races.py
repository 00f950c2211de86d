"""What was revoked is gone from the very next answer, however far behind the indexes are.

Every other race adds to what was revoked before the next question. `COGNI_RACES=2000` runs that many.
"""

import pytest

from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_domain.access.resolver import PrincipalResolver
from cogni_kernel import Ok
from cogni_testing.histories import DifferenceError, Stores, run_races

AT_ONCE = 8


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.runs("COGNI_RACES", 36, at_once=250)
async def test_what_was_revoked_is_in_no_answer_asked_for_afterwards(
    seeds: range, stores_in_files: Stores
) -> None:
    answers = 0
    for start in range(0, len(seeds), AT_ONCE):
        answers += await run_races(seeds[start : start + AT_ONCE], stores_in_files)

    assert answers >= 3 * len(seeds)


async def test_in_memory_too() -> None:
    assert await run_races(range(36), Stores.in_memory()) >= 2 * 36


async def test_a_race_is_lost_without_the_last_check(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unchecked(self: MemoryDocumentStoreAdapter, chunks: object, _: object) -> object:
        every = {c.id: c for d in self._state.documents.values() for c in self._passages(d)}
        assert isinstance(chunks, list)
        return Ok([every[chunk] for chunk in chunks if chunk in every])

    monkeypatch.setattr(MemoryDocumentStoreAdapter, "current", unchecked)

    with pytest.raises(DifferenceError):
        await run_races(range(36), Stores.in_memory())


async def test_a_race_is_lost_where_groups_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, kept = PrincipalResolver._principal, {}

    async def cached(self: PrincipalResolver, account: object) -> object:
        key = (id(self), str(account))
        if key not in kept:
            kept[key] = (self, await whole(self, account))  # type: ignore[arg-type]
        return kept[key][1]

    monkeypatch.setattr(PrincipalResolver, "_principal", cached)

    with pytest.raises(DifferenceError):
        await run_races(range(36), Stores.in_memory())
