import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql.base import PGDialect

from cogni_adapters.database.engine import Database
from cogni_adapters.database.queue import DatabaseQueueAdapter, enqueue, first_jobs
from cogni_adapters.database.tables.work import jobs
from cogni_domain.jobs import Lane, LeasedJob
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import ConflictError, Err, HumanText, Ok, Result
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.queue import LANE, LEASE, QueueContract, a_job
from cogni_testing.doubles import START, FrozenClock


class TestDatabaseQueue(QueueContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database

    async def make_queue(self, clock: FrozenClock) -> QueuePort:
        return DatabaseQueueAdapter(self.open_database(), clock)


async def test_a_job_of_a_transaction_that_failed_was_never_queued(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()

    def change_nothing(connection: sa.Connection) -> Result[None]:
        assert enqueue(connection, a_job("d1"), LANE)
        return Err(ConflictError(HumanText("Too late.")))

    err(await database.write(change_nothing), ConflictError)

    assert ok(await DatabaseQueueAdapter(database, FrozenClock()).dequeue(LANE, LEASE)) == []


async def test_jobs_survive_a_restart(open_database: Callable[[], Database]) -> None:
    clock, before = FrozenClock(), open_database()
    queue = DatabaseQueueAdapter(before, clock)
    ok(await queue.enqueue(a_job("d1"), LANE))
    [leased] = ok(await queue.dequeue(LANE, LEASE))
    ok(await queue.checkpoint(leased, "page-3", LEASE))
    await before.close()
    clock.advance(LEASE)

    [again] = ok(await DatabaseQueueAdapter(open_database(), clock).dequeue(LANE, LEASE))

    assert (again.job, again.attempt, again.cursor) == (a_job("d1"), 2, "page-3")


async def test_a_dead_job_stays_with_its_reason_and_its_place(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    queue = DatabaseQueueAdapter(database, FrozenClock())
    ok(await queue.enqueue(a_job("d1"), LANE))
    [leased] = ok(await queue.dequeue(LANE, LEASE))
    ok(await queue.checkpoint(leased, "page-3", LEASE))

    ok(await queue.fail(leased, "Upstream: it did not answer.", None))

    query = sa.select(jobs.c.key, jobs.c.reason, jobs.c.cursor, jobs.c.attempt).where(jobs.c.dead)
    rows = ok(await database.read(lambda connection: Ok(list(connection.execute(query)))))
    assert [tuple(row) for row in rows] == [("d1", "Upstream: it did not answer.", "page-3", 1)]


def test_postgresql_skips_what_another_worker_holds() -> None:
    query = first_jobs(jobs.c.due_at.is_(None))

    assert "FOR UPDATE SKIP LOCKED" in str(query.compile(dialect=PGDialect()))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "due", [jobs.c.due_at.is_(None), jobs.c.due_at <= START], ids=["at once", "due"]
)
async def test_the_next_job_is_found_in_the_index_however_long_the_lane(
    open_database: Callable[[], Database], due: sa.ColumnElement[bool]
) -> None:
    def plan(connection: sa.Connection) -> Result[str]:
        query = first_jobs(due).params(of_lane=LANE.value, most=1)
        compiled = query.compile(connection, compile_kwargs={"literal_binds": True})
        rows = connection.execute(sa.text(f"EXPLAIN QUERY PLAN {compiled}"))
        return Ok(" ".join(str(row.detail) for row in rows))

    found = ok(await open_database().read(plan))

    assert "USING INDEX ix_jobs_lane_due_at_id (lane=? AND due_at" in found
    assert "TEMP B-TREE" not in found


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    """Numbers that no other example has."""
    return count()


Step = tuple[str, int]


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["enqueue", "take", "take", "checkpoint", "complete", "retry", "wait"]),
            st.integers(0, 3),
        ),
        max_size=40,
    )
)
def test_no_job_is_lost_or_in_two_hands_whatever_workers_do(
    database_url: str, numbers: Iterator[int], steps: list[Step]
) -> None:
    asyncio.run(_work(database_url, next(numbers), steps))


async def _work(database_url: str, example: int, steps: list[Step]) -> None:
    database = Database(database_url)
    crew = _Crew(database)
    for what, which in steps:
        await crew.do(what, f"{example}-{which}", which)
    crew.clock.advance(2 * LEASE)
    while (left := await crew.take()) is not None:
        await crew.complete(left)
    assert crew.done == crew.added
    await database.close()


class _Crew:
    """Workers that remember every job they ever held, and use it however late."""

    def __init__(self, database: Database) -> None:
        self.clock = FrozenClock()
        self.queue = DatabaseQueueAdapter(database, self.clock)
        self.added: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.taken: list[LeasedJob] = []

    async def do(self, what: str, key: str, which: int) -> None:
        if what == "enqueue":
            self.added[key] += ok(await self.queue.enqueue(a_job(key), Lane.MACHINE))
        elif what == "take":
            await self.take()
        elif what == "wait":
            self.clock.advance(LEASE / 2)
        elif self.taken:
            await self.use(what, self.taken[which % len(self.taken)])

    async def take(self) -> LeasedJob | None:
        found = ok(await self.queue.dequeue(Lane.MACHINE, LEASE))
        self.taken += found
        return found[0] if found else None

    async def use(self, what: str, job: LeasedJob) -> None:
        is_newest = job is [taken for taken in self.taken if taken.id == job.id][-1]
        if what == "checkpoint":
            held = ok(await self.queue.checkpoint(job, "c", LEASE))
        elif what == "retry":
            held = ok(await self.queue.fail(job, "Busy.", LEASE / 2))
        else:
            held = await self.complete(job)
        assert is_newest or not held

    async def complete(self, job: LeasedJob) -> bool:
        held = ok(await self.queue.complete([job])) == 1
        self.done[job.job.key] += held
        return held


async def test_what_a_killed_process_had_in_hand_is_due_at_once_and_nothing_else(
    open_database: Callable[[], Database],
) -> None:
    clock = FrozenClock()
    queue = DatabaseQueueAdapter(open_database(), clock)
    for key, delay in (("held", None), ("failed", None), ("dead", None), ("later", LEASE)):
        due = None if delay is None else clock.now() + delay
        ok(await queue.enqueue(a_job(key, due), LANE))
    held, failed, dead = ok(await queue.dequeue(LANE, LEASE, 3))
    ok(await queue.fail(failed, "Busy.", LEASE))
    ok(await queue.fail(dead, "Broken.", None))

    assert ok(await queue.take_over()) == 1

    assert [j.job.key for j in ok(await queue.dequeue(LANE, LEASE, 9))] == ["held"]
    assert ok(await queue.complete([held])) == 0, "the lease of the killed one counts no more"
