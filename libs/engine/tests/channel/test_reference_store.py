import asyncio

from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    MAX_PER_BUCKET,
    ChannelKey,
    Marker,
    MarkerKind,
    MemoryReferenceStore,
    Missing,
    PlanPayload,
    TimelinePayload,
)

OURS, THEIRS = ChannelKey.derive("c1", "alice"), ChannelKey.derive("c1", "bob")


def plan(n: int) -> PlanPayload:
    return PlanPayload(f"Plan {n}", ())


async def test_references_count_up_by_kind_and_channel() -> None:
    store = MemoryReferenceStore()

    given_out = [
        await store.put(OURS, plan(1)),
        await store.put(OURS, plan(2)),
        await store.put(OURS, TimelinePayload("When", ())),
        await store.put(THEIRS, plan(3)),
    ]

    assert [str(m) for m in given_out] == [
        "[[PLAN:p1]]",
        "[[PLAN:p2]]",
        "[[TIMELINE:t1]]",
        "[[PLAN:p1]]",
    ]


async def test_a_marker_stands_for_its_payload_in_its_channel_alone() -> None:
    store = MemoryReferenceStore()
    marker = await store.put(OURS, plan(1))

    assert await store.get(OURS, marker) == plan(1)
    assert await store.get(THEIRS, marker) is Missing.NEVER_ISSUED


async def test_an_invented_reference_was_never_issued() -> None:
    store = MemoryReferenceStore()
    await store.put(OURS, plan(1))

    assert await store.get(OURS, Marker(MarkerKind.PLAN, "p2")) is Missing.NEVER_ISSUED
    assert await store.get(OURS, Marker(MarkerKind.CHART, "c1")) is Missing.NEVER_ISSUED


async def test_the_oldest_goes_first_and_says_that_it_was_there() -> None:
    store = MemoryReferenceStore()
    markers = [await store.put(OURS, plan(n)) for n in range(MAX_PER_BUCKET + 1)]

    assert await store.get(OURS, markers[0]) is Missing.EVICTED
    assert await store.get(OURS, markers[1]) == plan(1)
    assert await store.get(OURS, markers[-1]) == plan(MAX_PER_BUCKET)


async def test_another_kind_or_channel_takes_no_room() -> None:
    store = MemoryReferenceStore()
    first = await store.put(OURS, plan(0))
    for n in range(MAX_PER_BUCKET + 5):
        await store.put(THEIRS, plan(n))
        await store.put(OURS, TimelinePayload(f"{n}", ()))

    assert await store.get(OURS, first) == plan(0)


async def test_what_a_sealed_run_shows_is_never_evicted() -> None:
    store = MemoryReferenceStore()
    shown = await store.put(OURS, plan(0))
    await store.pin(OURS, (shown, Marker(MarkerKind.PLAN, "p2"), Marker(MarkerKind.CHART, "c1")))
    later = [await store.put(OURS, plan(n)) for n in range(1, MAX_PER_BUCKET + 2)]

    assert await store.get(OURS, shown) == plan(0)
    assert await store.get(OURS, later[0]) is Missing.EVICTED
    assert await store.get(OURS, later[1]) == plan(2)


async def test_what_is_gone_cannot_be_pinned_back() -> None:
    store = MemoryReferenceStore()
    markers = [await store.put(OURS, plan(n)) for n in range(MAX_PER_BUCKET + 1)]

    await store.pin(OURS, (markers[0],))

    assert await store.get(OURS, markers[0]) is Missing.EVICTED


@given(st.lists(st.booleans(), max_size=3 * MAX_PER_BUCKET))
def test_a_bucket_holds_the_pinned_and_the_newest_of_the_rest(pins: list[bool]) -> None:
    async def scenario() -> None:
        store = MemoryReferenceStore()
        loose: list[Marker] = []
        pinned: list[Marker] = []
        for n, is_pinned in enumerate(pins):
            marker = await store.put(OURS, plan(n))
            (pinned if is_pinned else loose).append(marker)
            if is_pinned:
                await store.pin(OURS, (marker,))
        kept = {m for m in (*loose, *pinned) if isinstance(await store.get(OURS, m), PlanPayload)}
        newest = loose[max(0, len(loose) - MAX_PER_BUCKET) :]
        assert kept >= {*pinned, *newest}
        assert len(kept) <= len(pinned) + MAX_PER_BUCKET

    asyncio.run(scenario())
