"""What every `ReferenceStore` promises."""

import asyncio
from abc import ABC, abstractmethod

import pytest

from cogni_engine import (
    MAX_PER_BUCKET,
    ChannelKey,
    ChartPayload,
    HighlightPayload,
    ImagePayload,
    Marker,
    MarkerKind,
    Missing,
    Moment,
    PlanPayload,
    PlanStep,
    ReferenceStore,
    Renderable,
    ReportPayload,
    Section,
    Series,
    TablePayload,
    TimelinePayload,
)

CHANNEL = ChannelKey.derive("c1", "alice")
ELSEWHERE = ChannelKey.derive("c1", "bob")
EVERY_RENDERABLE: tuple[Renderable, ...] = (
    ChartPayload("Headcount", ("Q1", "Q2"), (Series("é", (1.5, None)),), "line", "people"),
    ChartPayload("Nothing yet", (), ()),
    TablePayload("Mixed", ("a", "b"), ((1, "x"), (2.0, None), (True, "\ud83d\u0000"))),
    TimelinePayload("Move", (Moment("2026-03-02", "Start", "detail"), Moment("2026-03-03", "End"))),
    ReportPayload("Quarter", (Section("One", "*body*"),)),
    PlanPayload("Leave", (PlanStep("Book", "three days"), PlanStep("Tell"))),
    HighlightPayload("Clause", "s4"),
    ImagePayload("Plan", "artifact-1", "A floor plan."),
)


def a_plan(title: str) -> PlanPayload:
    """Return the smallest renderable."""
    return PlanPayload(title, ())


class ReferenceStoreContract(ABC):
    """Channels that know nothing of each other."""

    @abstractmethod
    async def make_reference_store(self) -> ReferenceStore:
        """Return a store; a second call in one test returns another over the same references."""

    async def filled(self, store: ReferenceStore, count: int) -> list[Marker]:
        """Put so many plans, `1` and on."""
        return [await store.put(CHANNEL, a_plan(str(n))) for n in range(1, count + 1)]

    @pytest.mark.parametrize("payload", EVERY_RENDERABLE)
    async def test_a_payload_comes_back_as_it_was_put(self, payload: Renderable) -> None:
        store = await self.make_reference_store()

        marker = await store.put(CHANNEL, payload)

        assert marker == Marker(payload.kind, f"{payload.kind.value}1")
        assert await store.get(CHANNEL, marker) == payload

    async def test_references_count_up_within_their_kind_and_channel(self) -> None:
        store = await self.make_reference_store()

        markers = await self.filled(store, 2)
        markers.append(await store.put(CHANNEL, HighlightPayload("x", "s1")))
        markers.append(await store.put(ELSEWHERE, a_plan("x")))

        assert [marker.ref for marker in markers] == ["p1", "p2", "l1", "p1"]

    async def test_a_marker_stands_for_nothing_in_another_channel(self) -> None:
        store = await self.make_reference_store()
        (marker,) = await self.filled(store, 1)

        assert await store.get(ELSEWHERE, marker) is Missing.NEVER_ISSUED

    async def test_what_never_was_is_told_from_what_is_too_old(self) -> None:
        store = await self.make_reference_store()
        first, second, *_ = await self.filled(store, MAX_PER_BUCKET + 1)

        assert await store.get(CHANNEL, first) is Missing.EVICTED
        assert await store.get(CHANNEL, second) == a_plan("2")
        unissued = Marker(MarkerKind.PLAN, f"p{MAX_PER_BUCKET + 2}")
        assert await store.get(CHANNEL, unissued) is Missing.NEVER_ISSUED
        assert await store.get(CHANNEL, Marker(MarkerKind.CHART, "c1")) is Missing.NEVER_ISSUED

    async def test_a_full_bucket_evicts_from_no_other(self) -> None:
        store = await self.make_reference_store()
        highlight = await store.put(CHANNEL, HighlightPayload("x", "s1"))
        theirs = await store.put(ELSEWHERE, a_plan("theirs"))

        await self.filled(store, MAX_PER_BUCKET + 5)

        assert await store.get(CHANNEL, highlight) == HighlightPayload("x", "s1")
        assert await store.get(ELSEWHERE, theirs) == a_plan("theirs")

    async def test_what_is_pinned_stays_and_takes_nobodys_place(self) -> None:
        store = await self.make_reference_store()
        first, second, third = await self.filled(store, 3)
        await store.pin(CHANNEL, (first, third))
        await store.pin(CHANNEL, (first,))

        later = await self.filled(store, MAX_PER_BUCKET)

        assert await store.get(CHANNEL, first) == a_plan("1")
        assert await store.get(CHANNEL, second) is Missing.EVICTED
        assert await store.get(CHANNEL, third) == a_plan("3")
        assert await store.get(CHANNEL, later[0]) == a_plan("1")

    async def test_what_is_not_kept_cannot_be_pinned(self) -> None:
        store = await self.make_reference_store()
        gone, *_ = await self.filled(store, MAX_PER_BUCKET + 1)
        coming = Marker(MarkerKind.PLAN, f"p{MAX_PER_BUCKET + 2}")

        await store.pin(CHANNEL, (gone, coming))
        await self.filled(store, MAX_PER_BUCKET + 1)

        assert await store.get(CHANNEL, gone) is Missing.EVICTED
        assert await store.get(CHANNEL, coming) is Missing.EVICTED

    async def test_a_pin_holds_in_its_own_channel_alone(self) -> None:
        store = await self.make_reference_store()
        (marker,) = await self.filled(store, 1)

        await store.pin(ELSEWHERE, (marker,))
        await self.filled(store, MAX_PER_BUCKET)

        assert await store.get(CHANNEL, marker) is Missing.EVICTED

    async def test_payloads_put_at_once_get_references_of_their_own(self) -> None:
        stores = [await self.make_reference_store(), await self.make_reference_store()]
        puts = [stores[n % 2].put(CHANNEL, a_plan(str(n))) for n in range(20)]

        markers = await asyncio.gather(*puts)

        assert len(set(markers)) == 20
        found = [await stores[0].get(CHANNEL, marker) for marker in markers]
        assert found == [a_plan(str(n)) for n in range(20)]
