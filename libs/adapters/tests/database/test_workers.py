import asyncio
import threading
from collections.abc import Iterator

import pytest

from cogni_adapters.database.workers import Workers


@pytest.fixture
def one() -> Iterator[Workers]:
    workers = Workers(1, "test")
    yield workers
    workers.close()


async def test_work_is_done_in_a_thread_in_the_order_in_which_it_was_given(one: Workers) -> None:
    done: list[int] = []

    def work(number: int) -> str:
        done.append(number)
        return threading.current_thread().name

    names = await asyncio.gather(*(one.run(lambda n=n: work(n)) for n in range(20)))  # type: ignore[misc]

    assert done == list(range(20))
    assert set(names) == {"test-0"}


async def test_a_bug_is_raised_where_the_work_was_asked_for(one: Workers) -> None:
    with pytest.raises(ZeroDivisionError):
        await one.run(lambda: 1 // 0)

    assert await one.run(lambda: 1) == 1


async def test_what_was_cancelled_before_it_began_is_not_done_and_what_had_begun_is(
    one: Workers,
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        begun.set()
        go_on.wait(60)
        done.append("slow")

    first = asyncio.ensure_future(one.run(slow))
    second = asyncio.ensure_future(one.run(lambda: done.append("second")))
    await asyncio.to_thread(begun.wait, 60)
    first.cancel()
    second.cancel()
    await asyncio.wait([first, second])
    go_on.set()

    await one.run(lambda: done.append("third"))
    assert done == ["slow", "third"]


async def test_as_much_goes_on_at_once_as_there_are_threads() -> None:
    workers = Workers(3, "test")
    together = threading.Barrier(3, timeout=60)

    await asyncio.gather(*(workers.run(together.wait) for _ in range(3)))

    await asyncio.to_thread(workers.close)


async def test_closed_workers_finish_what_they_were_given_and_take_no_more() -> None:
    workers = Workers(1, "test")
    done: list[int] = []
    given = asyncio.ensure_future(workers.run(lambda: done.append(1)))
    await asyncio.sleep(0)

    await asyncio.to_thread(workers.close)

    await given
    assert done == [1]
    with pytest.raises(RuntimeError, match="closed"):
        await workers.run(lambda: None)
