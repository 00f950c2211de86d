"""Whatever happens to pages, permissions, groups and people, each search shows exactly what the source allows."""

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.permissions.conftest import Kit

HISTORIES, PARTS = 2_000, 10
EACH = HISTORIES // PARTS


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
async def test_two_thousand_histories_of_forty_events_show_exactly_what_the_source_allows(
    kit: "Kit", part: int
) -> None:
    compared = Counter[str]()
    for seed in range(part * EACH, (part + 1) * EACH):
        history = kit.History(seed)
        await history.run(40)
        compared += history.compared

    assert compared["something, indexed"] > 5 * EACH, compared
    assert compared["something, behind"] > 2 * EACH, compared
    assert compared["nothing, indexed"] > EACH, compared
