"""Widgets whose references the database keeps: for so long, and for one conversation."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.references import DatabaseReferenceStoreAdapter
from cogni_engine import MAX_PER_BUCKET, ReferenceStore
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World


@pytest.fixture
async def references(tmp_path: Path) -> AsyncIterator[ReferenceStore]:
    """References as the product keeps them."""
    ok(migrate(url := f"sqlite:///{tmp_path / 'cogni.db'}"))
    database = Database(url)
    yield DatabaseReferenceStoreAdapter(database)
    await database.close()


async def test_what_the_database_keeps_no_longer_is_told_from_what_was_never_issued(
    world: "World",
) -> None:
    first = await world.ask("Show a chart.")
    world.model.mentions_chart = False
    unseen = await world.ask("Show a chart.", conversation_id=first["conversation_id"])
    newest = unseen
    for _ in range(MAX_PER_BUCKET):
        newest = await world.ask("Show a chart.", conversation_id=first["conversation_id"])
    other = await world.ask("Show a chart.")

    async def state(outcome: Mapping[str, object], ref: str) -> object:
        answer = await world.call("GET", f"/v1/runs/{outcome['run_ref']}/widgets/{ref}")
        return answer.json()["state"]

    assert await state(first, "c1") == "ready"  # what a sealed answer shows is kept
    assert await state(unseen, "c2") == "evicted"
    assert await state(newest, f"c{2 + MAX_PER_BUCKET}") == "ready"
    assert await state(newest, f"c{3 + MAX_PER_BUCKET}") == "never_issued"
    assert await state(other, "c1") == "ready"
    assert await state(other, "c2") == "never_issued"  # issued, but in the other conversation
