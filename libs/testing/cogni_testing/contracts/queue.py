"""What every `QueuePort` promises."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import START, FrozenClock

LEASE = timedelta(seconds=30)
LANE = Lane.INDEXING


def a_job(key: str, not_before: datetime | None = None) -> Job:
    """Return a job of acme's that names a document."""
    return Job("index_document", TenantId("acme"), key, {"document_id": key}, not_before)


class QueueContract(ABC):
    """Workers of several processes on the same lanes; time stands until the test moves it."""

    @abstractmethod
    async def make_queue(self, clock: FrozenClock) -> QueuePort:
        """Return a queue; a second call in one test returns another over the same jobs."""

    async def taken(self, queue: QueuePort, lane: Lane = LANE) -> LeasedJob:
        """Return the job that a worker gets, which must be there."""
        [job] = ok(await queue.dequeue(lane, LEASE))
        return job

    async def keys(self, queue: QueuePort, lane: Lane = LANE) -> list[str]:
        """Take all that is due, in order."""
        found: list[str] = []
        while leased := ok(await queue.dequeue(lane, LEASE)):
            found += [each.job.key for each in leased]
        return found

    async def test_an_empty_lane_gives_nothing(self) -> None:
        queue = await self.make_queue(FrozenClock())

        assert ok(await queue.dequeue(LANE, LEASE)) == []

    async def test_a_job_comes_out_as_it_went_in(self) -> None:
        queue = await self.make_queue(FrozenClock())
        job = Job(
            "k\u00efnd", TenantId("acme"), "\u5047\u671f/1", {"a": "\ud83d\u0000", "b": ""}, START
        )

        assert ok(await queue.enqueue(job, LANE)) is True
        leased = await self.taken(queue)

        assert (leased.job, leased.attempt, leased.cursor) == (job, 1, None)

    async def test_jobs_come_oldest_first(self) -> None:
        queue = await self.make_queue(FrozenClock())
        for key in ("b", "c", "a"):
            ok(await queue.enqueue(a_job(key), LANE))

        assert await self.keys(queue) == ["b", "c", "a"]

    async def test_a_batch_is_the_oldest_that_are_due_up_to_its_size(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("first", START + LEASE), LANE))
        ok(await queue.enqueue(a_job("never", START + timedelta(days=1)), LANE))
        for key in ("b", "c", "a"):
            ok(await queue.enqueue(a_job(key), LANE))
        clock.advance(LEASE)

        batches = [ok(await queue.dequeue(LANE, LEASE, 3)) for _ in range(3)]

        assert [[leased.job.key for leased in batch] for batch in batches] == [
            ["first", "b", "c"],
            ["a"],
            [],
        ]
        assert {leased.attempt for batch in batches for leased in batch} == {1}

    async def test_a_batch_is_completed_without_what_others_have_by_now(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        for key in ("a", "b", "c"):
            ok(await queue.enqueue(a_job(key), LANE))
        mine = ok(await queue.dequeue(LANE, LEASE, 3))
        ok(await queue.hold(mine[1:], 3 * LEASE))
        clock.advance(LEASE)
        theirs = await self.taken(queue)

        assert ok(await queue.complete([*mine, mine[1]])) == 2
        assert ok(await queue.complete([])) == 0
        assert ok(await queue.complete([theirs])) == 1
        assert ok(await queue.depth(LANE)) == 0

    @pytest.mark.parametrize("lane", list(Lane))
    async def test_lanes_do_not_touch(self, lane: Lane) -> None:
        queue = await self.make_queue(FrozenClock())
        others = [other for other in Lane if other is not lane]
        for other in others:
            ok(await queue.enqueue(a_job(other.value), other))

        assert ok(await queue.dequeue(lane, LEASE)) == []
        assert [await self.keys(queue, other) for other in others] == [[o.value] for o in others]

    async def test_a_key_is_queued_once_while_it_waits_or_runs(self) -> None:
        queue = await self.make_queue(FrozenClock())
        ok(await queue.enqueue(a_job("d1"), LANE))
        changed = replace(a_job("d1"), payload={"document_id": "another"})

        again = [ok(await queue.enqueue(changed, LANE))]
        leased = await self.taken(queue)
        again.append(ok(await queue.enqueue(changed, LANE)))
        ok(await queue.fail(leased, "Busy.", timedelta(0)))
        again.append(ok(await queue.enqueue(changed, LANE)))

        assert again == [False, False, False]
        assert leased.job == a_job("d1")
        assert await self.keys(queue) == ["d1"]

    async def test_a_key_is_queued_again_when_its_job_is_done_or_dead(self) -> None:
        queue = await self.make_queue(FrozenClock())
        ok(await queue.enqueue(a_job("d1"), LANE))
        ok(await queue.complete([await self.taken(queue)]))

        after_done = ok(await queue.enqueue(a_job("d1"), LANE))
        ok(await queue.fail(await self.taken(queue), "Broken.", None))
        after_dead = ok(await queue.enqueue(a_job("d1"), LANE))

        assert (after_done, after_dead) == (True, True)
        assert (await self.taken(queue)).attempt == 1

    async def test_a_key_is_of_its_kind_and_its_tenant(self) -> None:
        queue = await self.make_queue(FrozenClock())
        job = a_job("d1")
        others = [replace(job, kind="delete"), replace(job, tenant_id=TenantId("globex"))]

        assert [ok(await queue.enqueue(each, LANE)) for each in (job, *others)] == [True] * 3

    async def test_one_key_queued_at_once_makes_one_job(self) -> None:
        clock = FrozenClock()
        queues = [await self.make_queue(clock), await self.make_queue(clock)]
        asked = [queues[n % 2].enqueue(a_job("d1"), LANE) for n in range(10)]

        found = [ok(added) for added in await asyncio.gather(*asked)]

        assert found.count(True) == 1
        assert await self.keys(queues[0]) == ["d1"]

    async def test_a_delayed_job_waits_for_its_moment(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("later", START + timedelta(hours=1)), LANE))
        ok(await queue.enqueue(a_job("now"), LANE))

        assert await self.keys(queue) == ["now"]
        clock.advance(timedelta(minutes=59))
        assert "later" not in await self.keys(queue)
        clock.advance(timedelta(minutes=1))
        assert "later" in await self.keys(queue)

    async def test_a_delayed_job_is_not_overtaken_once_it_is_due(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("older", START + timedelta(hours=1)), LANE))
        clock.advance(timedelta(hours=1))
        ok(await queue.enqueue(a_job("newer"), LANE))

        assert await self.keys(queue) == ["older", "newer"]

    async def test_a_leased_job_is_nobody_elses(self) -> None:
        clock = FrozenClock()
        mine, theirs = await self.make_queue(clock), await self.make_queue(clock)
        ok(await mine.enqueue(a_job("d1"), LANE))
        await self.taken(mine)

        assert ok(await theirs.dequeue(LANE, LEASE)) == []

    async def test_workers_at_once_get_different_jobs(self) -> None:
        clock = FrozenClock()
        queues = [await self.make_queue(clock), await self.make_queue(clock)]
        for n in range(40):
            ok(await queues[0].enqueue(a_job(f"d{n}"), LANE))
        asked = [queues[n % 2].dequeue(LANE, LEASE) for n in range(40)]

        found = [ok(leased) for leased in await asyncio.gather(*asked)]
        found += [ok(await queues[0].dequeue(LANE, LEASE)) for _ in range(40)]

        keys = [leased.job.key for batch in found for leased in batch]
        assert len(keys) == len(set(keys)) == 40

    async def test_a_job_whose_lease_ran_out_is_taken_over(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        first = await self.taken(queue)
        clock.advance(LEASE)

        second = await self.taken(queue)

        assert (second.job, second.attempt) == (first.job, 2)
        assert second.lease != first.lease

    async def test_who_lost_a_job_can_do_nothing_with_it(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        lost = await self.taken(queue)
        clock.advance(LEASE)
        held = await self.taken(queue)

        attempts = [
            await queue.checkpoint(lost, "page-9", LEASE),
            await queue.complete([lost]),
            await queue.fail(lost, "Broken.", timedelta(0)),
            await queue.fail(lost, "Broken.", None),
        ]

        assert [bool(ok(each)) for each in attempts] == [False] * 4
        assert ok(await queue.checkpoint(held, "page-1", LEASE)) is True

    async def test_a_late_worker_whom_nobody_followed_may_still_finish(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        late = await self.taken(queue)
        clock.advance(2 * LEASE)

        assert ok(await queue.complete([late])) == 1
        assert ok(await queue.complete([late])) == 0
        assert await self.keys(queue) == []

    async def test_a_checkpoint_holds_the_job_on(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        held = await self.taken(queue)
        clock.advance(LEASE / 2)

        ok(await queue.checkpoint(held, "page-1", LEASE))
        clock.advance(LEASE / 2)

        assert ok(await queue.dequeue(LANE, LEASE)) == []
        clock.advance(LEASE / 2)
        assert (await self.taken(queue)).attempt == 2

    async def test_jobs_are_held_on_where_they_stand_by_whoever_has_them(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        for key in ("d1", "d2", "d3"):
            ok(await queue.enqueue(a_job(key), LANE))
        held = [await self.taken(queue) for _ in range(3)]
        ok(await queue.checkpoint(held[0], "page-1", LEASE))
        clock.advance(LEASE)
        again = await self.taken(queue)
        assert again.job.key == held[0].job.key

        ok(await queue.hold(held[1:], LEASE))
        ok(await queue.hold(held[:1], 5 * LEASE))
        ok(await queue.hold([], LEASE))
        clock.advance(LEASE / 2)
        assert ok(await queue.dequeue(LANE, LEASE)) == []
        clock.advance(LEASE / 2)

        freed = [await self.taken(queue) for _ in range(3)]
        assert {f.job.key: (f.attempt, f.cursor) for f in freed} == {
            "d1": (3, "page-1"),
            "d2": (2, None),
            "d3": (2, None),
        }

    async def test_who_takes_over_goes_on_at_the_newest_checkpoint(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        held = await self.taken(queue)
        for cursor in ("page-1", "page-2"):
            ok(await queue.checkpoint(held, cursor, LEASE))
        clock.advance(LEASE)

        again = await self.taken(queue)
        ok(await queue.fail(again, "Busy.", timedelta(0)))

        assert again.cursor == "page-2"
        assert (await self.taken(queue)).cursor == "page-2"

    async def test_a_failed_job_comes_back_after_its_pause(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        leased = await self.taken(queue)

        assert ok(await queue.fail(leased, "Busy.", timedelta(seconds=5))) is True

        assert ok(await queue.complete([leased])) == 0
        clock.advance(timedelta(seconds=4))
        assert ok(await queue.dequeue(LANE, LEASE)) == []
        clock.advance(timedelta(seconds=1))
        assert (await self.taken(queue)).attempt == 2

    async def test_a_dead_job_does_not_come_back(self) -> None:
        clock = FrozenClock()
        queue = await self.make_queue(clock)
        ok(await queue.enqueue(a_job("d1"), LANE))
        leased = await self.taken(queue)

        assert ok(await queue.fail(leased, "Broken.", None)) is True

        clock.advance(timedelta(days=365))
        assert ok(await queue.dequeue(LANE, LEASE)) == []
        assert ok(await queue.complete([leased])) == 0

    async def test_depth_counts_what_waits_or_runs_in_its_lane(self) -> None:
        queue = await self.make_queue(FrozenClock())
        for key in ("waits", "runs", "dies", "delayed"):
            await queue.enqueue(a_job(key, START + LEASE if key == "delayed" else None), LANE)
        await queue.enqueue(a_job("elsewhere"), Lane.RENDERING)
        await self.taken(queue)
        dying = await self.taken(queue)

        await queue.fail(dying, "poison", None)

        assert ok(await queue.depth(LANE)) == 3
        assert ok(await queue.depth(Lane.MACHINE)) == 0
