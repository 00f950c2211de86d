from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.database.engine import Database
from cogni_adapters.database.references import DatabaseReferenceStoreAdapter
from cogni_adapters.database.renderables import renderable
from cogni_engine import (
    ChannelKey,
    ChartPayload,
    MarkerKind,
    PlanPayload,
    ReferenceStore,
    Renderable,
    TablePayload,
)
from cogni_kernel import ModelFacingText
from cogni_testing.contracts.reference_store import CHANNEL, ReferenceStoreContract


class TestDatabaseReferenceStore(ReferenceStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_reference_store(self) -> ReferenceStore:
        return DatabaseReferenceStoreAdapter(self.open_database())


@dataclass(frozen=True, slots=True)
class Theme(Renderable):
    kind: ClassVar[MarkerKind] = MarkerKind.THEME
    name: str

    def summary_for_model(self) -> ModelFacingText:
        return ModelFacingText("A theme.")


@dataclass(frozen=True, slots=True)
class LookAlike(PlanPayload):
    """Has a plan's fields, and is none."""


@pytest.mark.parametrize("stranger", [Theme("dark"), LookAlike("x", ())])
async def test_what_could_not_be_read_back_is_not_kept(
    open_database: Callable[[], Database], stranger: Renderable
) -> None:
    store = DatabaseReferenceStoreAdapter(open_database())

    with pytest.raises(ValueError, match=r"not a renderable|cannot be kept"):
        await store.put(CHANNEL, stranger)


async def test_a_database_that_does_not_answer_is_an_exception(
    open_database: Callable[[], Database], tmp_path: object
) -> None:
    store = DatabaseReferenceStoreAdapter(Database("sqlite:////nowhere/at/all.db"))

    with pytest.raises(OSError, match="did not answer"):
        await store.put(ChannelKey("k"), PlanPayload("x", ()))


cells = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.text(), st.lists(st.tuples(st.text(), cells, st.text())))
def test_a_table_of_anything_is_rebuilt(title: str, rows: list[tuple[object, ...]]) -> None:
    table = TablePayload(title, ("a", "b", "c"), tuple(rows))  # type: ignore[arg-type]

    assert renderable(MarkerKind.TABLE, table.to_payload()) == table


@pytest.mark.parametrize(
    "payload", [{}, {"title": "x"}, {"title": "x", "labels": [], "series": [{"nome": "x"}]}]
)
def test_what_is_no_renderable_is_refused(payload: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a renderable: CHART"):
        renderable(ChartPayload.kind, payload)
