import asyncio
import threading
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from cogni_adapters.database.engine import DISK_FULL, UNAVAILABLE, Database
from cogni_adapters.database.tables.directory import tenants
from cogni_kernel import ConflictError, Err, HumanText, Ok, Result, UpstreamError
from cogni_testing.assertions import err, ok

COUNT = sa.select(sa.func.count()).select_from(tenants)


def insert(name: str) -> Callable[[sa.Connection], Result[str]]:
    def work(connection: sa.Connection) -> Result[str]:
        connection.execute(sa.insert(tenants).values(id=name, name=name, enabled=True))
        return Ok(name)

    return work


async def count(database: Database) -> int:
    return ok(await database.read(lambda connection: Ok(connection.scalar(COUNT) or 0)))


async def test_a_write_is_seen_by_every_later_read(open_database: Callable[[], Database]) -> None:
    one, other = open_database(), open_database()

    ok(await one.write(insert("acme")))

    assert (await count(one), await count(other)) == (1, 1)


async def test_a_write_that_ends_in_an_error_changes_nothing(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()

    def work(connection: sa.Connection) -> Result[str]:
        insert("acme")(connection)
        return Err(ConflictError(HumanText("Too late.")))

    err(await database.write(work, then=lambda _: pytest.fail("called")), ConflictError)

    assert await count(database) == 0


async def test_a_bug_in_the_work_is_raised_and_changes_nothing(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()

    def work(connection: sa.Connection) -> Result[str]:
        insert("acme")(connection)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write(work)

    assert await count(database) == 0


async def test_what_the_database_refuses_is_an_error_with_its_detail(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    ok(await database.write(insert("acme")))

    error = err(await database.write(insert("acme")), UpstreamError)

    assert error.message == UNAVAILABLE
    assert "UNIQUE" in str(error.detail["error"])


async def test_a_read_sees_one_state_from_beginning_to_end(
    open_database: Callable[[], Database],
) -> None:
    reader, writer = open_database(), open_database()
    begun, written = threading.Event(), threading.Event()

    def work(connection: sa.Connection) -> Result[tuple[object, object]]:
        before = connection.scalar(COUNT)
        begun.set()
        assert written.wait(60)
        return Ok((before, connection.scalar(COUNT)))

    reading = asyncio.ensure_future(reader.read(work))
    await asyncio.to_thread(begun.wait, 60)
    ok(await writer.write(insert("acme")))
    written.set()

    assert ok(await reading) == (0, 0)
    assert await count(reader) == 1


async def test_reads_go_on_while_a_write_takes_its_time(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    begun, go_on = threading.Event(), threading.Event()

    def slow(connection: sa.Connection) -> Result[str]:
        insert("acme")(connection)
        begun.set()
        assert go_on.wait(60)
        return Ok("acme")

    writing = asyncio.ensure_future(database.write(slow))
    await asyncio.to_thread(begun.wait, 60)
    before = await count(database)
    go_on.set()
    ok(await writing)

    assert (before, await count(database)) == (0, 1)


async def test_two_processes_write_one_after_the_other(
    open_database: Callable[[], Database],
) -> None:
    databases = [open_database(), open_database()]

    def increase(connection: sa.Connection) -> Result[int]:
        found = connection.scalar(COUNT) or 0
        return insert(f"t{found}")(connection).map(lambda _: found)

    done = await asyncio.gather(*(d.write(increase) for _ in range(20) for d in databases))

    assert sorted(map(ok, done)) == list(range(40))


async def test_what_follows_a_commit_comes_before_the_next_write(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    order: list[str] = []

    def write(name: str) -> Callable[[sa.Connection], Result[str]]:
        def work(connection: sa.Connection) -> Result[str]:
            order.append(f"write {name}")
            return insert(name)(connection)

        return work

    await asyncio.gather(
        *(
            database.write(write(name), then=lambda name: order.append(f"then {name}"))
            for name in "abc"
        )
    )

    assert order == [f"{step} {name}" for name in "abc" for step in ("write", "then")]


async def test_what_follows_a_commit_comes_even_if_the_caller_is_cancelled(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    begun, go_on, followed = threading.Event(), threading.Event(), threading.Event()

    def work(connection: sa.Connection) -> Result[str]:
        begun.set()
        assert go_on.wait(60)
        return insert("acme")(connection)

    writing = asyncio.ensure_future(database.write(work, then=lambda _: followed.set()))
    await asyncio.to_thread(begun.wait, 60)
    writing.cancel()
    go_on.set()

    assert await asyncio.to_thread(followed.wait, 60)
    assert await count(database) == 1


async def test_a_full_disk_is_told_and_nothing_is_lost(
    open_database: Callable[[], Database], fill_disk: Callable[[Database], Callable[[], None]]
) -> None:
    database = open_database()
    ok(await database.write(insert("acme")))
    free = fill_disk(database)

    error = err(await database.write(insert("x" * 1_000_000)), UpstreamError)
    assert error.message == DISK_FULL
    assert await count(database) == 1

    free()
    ok(await database.write(insert("x" * 1_000_000)))
    assert await count(open_database()) == 2
