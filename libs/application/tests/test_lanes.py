"""Jobs are done at least once, a bounded number of times, and one spoils no other."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_application import lanes
from cogni_application.lanes import LEASE, MAX_ATTEMPTS, MAX_TAKEN, LaneWorker
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_kernel import ConflictError, Err, HumanText, Ok, Result, TenantId, UpstreamError
from cogni_testing import FrozenClock, ok

LANE = Lane.INDEXING
AGAIN = Err(UpstreamError(HumanText("Not now.")))
NEVER = Err(ConflictError(HumanText("Never.")))


class Desk:
    def __init__(self) -> None:
        self.state, self.clock = MemoryState(), FrozenClock()
        self.queue = MemoryQueueAdapter(self.state, self.clock)
        self.done: list[list[str]] = []
        self.answers: dict[str, Result[None]] = {}
        self.bugs: set[str] = set()
        self.worker = LaneWorker(self.queue, LANE, {"write": self.write, "read": self.write})

    async def write(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        keys = [leased.job.key for leased in jobs]
        self.done.append(keys)
        if self.bugs & set(keys):
            raise RuntimeError("a bug")
        return [self.answers.get(key, Ok(None)) for key in keys]

    async def add(self, *keys: str, kind: str = "write") -> None:
        for key in keys:
            assert ok(await self.queue.enqueue(Job(kind, TenantId("acme"), key, {}), LANE))

    def dead(self) -> dict[str, str]:
        return {r.job.key: r.dead_because for r in self.state.jobs.values() if r.dead_because}

    def waiting(self) -> set[str]:
        return {r.job.key for r in self.state.jobs.values() if not r.dead_because}


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_jobs_of_one_kind_are_done_together_and_leave_the_lane(desk: Desk) -> None:
    await desk.add("a", "b")

    assert await desk.worker.work_once() is True
    assert await desk.worker.work_once() is False
    assert (desk.done, desk.waiting()) == ([["a", "b"]], set())


async def test_kinds_are_done_in_the_order_of_their_handlers(desk: Desk) -> None:
    await desk.add("long", kind="read")
    await desk.add("short")

    await desk.worker.work_once()

    assert desk.done == [["short"], ["long"]]


async def test_a_batch_is_bounded(desk: Desk) -> None:
    await desk.add(*map(str, range(70)))

    await desk.worker.work_off()

    assert [len(keys) for keys in desk.done] == [32, 32, 6]


async def test_what_failed_is_tried_again_later_and_then_parked_with_its_reason(
    desk: Desk,
) -> None:
    desk.answers["a"] = AGAIN
    await desk.add("a", "b")
    waits = []
    for _ in range(MAX_ATTEMPTS):
        await desk.worker.work_off()
        row = next(iter(desk.state.jobs.values()))
        if row.not_before is not None and not row.dead_because:
            waits.append((row.not_before - desk.clock.now()).total_seconds())
            desk.clock.advance(row.not_before - desk.clock.now())

    assert waits == [2.0**n for n in range(1, MAX_ATTEMPTS)]
    assert desk.dead() == {"a": "Upstream: Not now."}
    assert sum(keys.count("a") for keys in desk.done) == MAX_ATTEMPTS
    assert sum(keys.count("b") for keys in desk.done) == 1


async def test_what_cannot_succeed_is_parked_at_once(desk: Desk) -> None:
    desk.answers["a"] = NEVER
    await desk.add("a")

    await desk.worker.work_off()

    assert desk.dead() == {"a": "Conflict: Never."}


async def test_a_kind_that_nobody_does_is_parked_and_ends_no_worker(desk: Desk) -> None:
    await desk.add("a", kind="unheard of")
    await desk.add("b")

    await desk.worker.work_off()

    assert desk.dead() == {"a": "Definition: nobody does unheard of"}
    assert desk.done == [["b"]]


async def test_a_job_that_breaks_its_handler_spoils_no_other(desk: Desk) -> None:
    desk.bugs = {"poison"}
    await desk.add("a", "poison", "b")

    await desk.worker.work_off()

    assert desk.waiting() == {"poison"}
    assert desk.done == [["a", "poison", "b"], ["a"], ["poison"], ["b"]]
    for _ in range(MAX_ATTEMPTS):
        desk.clock.advance(timedelta(hours=1))
        await desk.worker.work_off()
    assert desk.dead() == {"poison": f"Upstream: {lanes.BUG}"}


async def test_a_handler_that_answers_for_other_than_its_jobs_is_a_bug(desk: Desk) -> None:
    async def too_few(jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        return []

    worker = LaneWorker(desk.queue, LANE, {"write": too_few})
    await desk.add("a", "b")

    await worker.work_off()

    assert desk.waiting() == {"a", "b"}


async def test_a_job_whose_workers_all_die_is_given_up(desk: Desk) -> None:
    await desk.add("a")
    for _ in range(MAX_TAKEN):
        assert ok(await desk.queue.dequeue(LANE, LEASE))
        desk.clock.advance(LEASE)

    await desk.worker.work_off()

    assert desk.done == []
    assert desk.dead() == {"a": f"Upstream: {lanes.NEVER_BACK}"}


async def test_a_job_in_other_hands_by_now_is_left_to_them(desk: Desk) -> None:
    await desk.add("a")

    async def slow(jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        desk.clock.advance(LEASE)
        assert ok(await desk.queue.dequeue(LANE, LEASE))
        return [NEVER]

    await LaneWorker(desk.queue, LANE, {"write": slow}).work_once()

    assert desk.waiting() == {"a"}


async def test_a_batch_is_held_on_for_as_long_as_it_takes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "LEASE", timedelta(seconds=0.03))
    await desk.add("a", "b")
    late: list[object] = []

    async def slow(jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        for _ in range(10):
            desk.clock.advance(timedelta(seconds=0.01))
            await asyncio.sleep(0.011)
            late.append(ok(await desk.queue.dequeue(LANE, LEASE)))
        return [Ok(None)] * len(jobs)

    await LaneWorker(desk.queue, LANE, {"write": slow}).work_once()

    assert late == [[]] * 10
    assert desk.waiting() == set()


async def test_a_queue_that_does_not_answer_ends_no_worker(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "IDLE_S", 0.001)
    whole, calls = desk.queue.dequeue, 0

    async def flaky(lane: Lane, lease: timedelta, most: int) -> Result[Sequence[LeasedJob]]:
        nonlocal calls
        calls += 1
        if calls == 1:
            return AGAIN
        if calls == 2:
            raise OSError("broken")
        return await whole(lane, lease, most)

    monkeypatch.setattr(desk.queue, "dequeue", flaky)
    await desk.add("a")
    working = asyncio.create_task(desk.worker.work())
    async with asyncio.timeout(60):
        while desk.waiting():
            await asyncio.sleep(0.002)

    assert desk.done == [["a"]]
    working.cancel()
    await asyncio.wait([working])
