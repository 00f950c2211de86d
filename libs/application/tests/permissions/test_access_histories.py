"""Whatever happens to pages, permissions, groups and people, each search shows exactly what the source allows.

Half of the histories are of a wide world, half of a small one where both persons ask after every event.
`COGNI_HISTORIES=10000 .venv/bin/pytest -n 2 libs/application/tests/permissions` runs that many in memory;
`COGNI_HISTORIES_IN_FILES=2000` over SQLite and Tantivy, up to 250 at a time as tenants of one folder.
"""

from collections import Counter

import pytest

from cogni_testing.histories import Stores, run_side_by_side

SIDE_BY_SIDE = 16
"""As many as have their keyword indexes open at a time."""


def enough(compared: Counter[str], histories: int) -> bool:
    """Whether so many histories compared what they are there to compare."""
    least = {"something, indexed": 12, "something, behind": 5, "nothing, indexed": 4}
    return all(compared[kind] > each * histories for kind, each in least.items())


@pytest.mark.slow
@pytest.mark.runs("COGNI_HISTORIES", 2_000, at_once=200)
async def test_histories_of_forty_events_show_exactly_what_the_source_allows(seeds: range) -> None:
    compared = Counter[str]()
    for seed in seeds:
        compared += await run_side_by_side([seed], Stores.in_memory())

    assert enough(compared, len(seeds)), compared


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.runs("COGNI_HISTORIES_IN_FILES", 60, at_once=250)
async def test_tenants_of_one_folder_see_exactly_what_their_sources_allow(
    seeds: range, stores_in_files: Stores
) -> None:
    compared = Counter[str]()
    for start in range(0, len(seeds), SIDE_BY_SIDE):
        compared += await run_side_by_side(seeds[start : start + SIDE_BY_SIDE], stores_in_files)

    assert enough(compared, len(seeds)), compared
