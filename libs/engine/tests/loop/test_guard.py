import asyncio
from contextlib import suppress

import pytest

from cogni_engine.guard import MAX_TRACE_CHARACTERS, detail_of, guarded
from cogni_kernel import HumanText, UpstreamError

MESSAGE = HumanText("It did not work.")


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


async def test_what_works_is_returned() -> None:
    async def work() -> int:
        return 7

    assert await guarded(work, MESSAGE) == 7


@pytest.mark.parametrize(
    "bug",
    [
        ValueError("row 41"),
        UnspeakableError(),
        ExceptionGroup("two", [KeyError(1)]),
        RecursionError(),
    ],
)
async def test_what_breaks_is_an_error_that_says_so(bug: Exception) -> None:
    async def work() -> int:
        raise bug

    error = await guarded(work, MESSAGE)

    assert isinstance(error, UpstreamError)
    assert (error.message, error.retryable) == (MESSAGE, False)
    assert type(bug).__name__ in detail_of(error)


async def test_what_cannot_even_begin_is_an_error_too() -> None:
    def work() -> "asyncio.Future[int]":
        raise TypeError("no such argument")

    assert isinstance(await guarded(work, MESSAGE), UpstreamError)


async def test_a_trace_is_bounded_and_can_be_written_down() -> None:
    async def work() -> int:
        raise ValueError("\ud800" * 1_000_000)

    error = await guarded(work, MESSAGE)

    assert isinstance(error, UpstreamError)
    assert len(str(error.detail["trace"])) <= MAX_TRACE_CHARACTERS
    assert detail_of(error).encode()


async def test_work_that_is_deaf_to_cancellation_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cogni_engine.guard.GRACE_S", 0.02)
    started, over = asyncio.Event(), asyncio.Event()

    async def deaf() -> int:
        started.set()
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()
        raise ValueError("said to nobody")

    task = asyncio.create_task(guarded(deaf, MESSAGE))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
    over.set()
    await asyncio.sleep(0.01)


@pytest.mark.parametrize("last", [None, ValueError("while cleaning up")])
async def test_a_cancellation_passes_whatever_the_work_makes_of_it(last: Exception | None) -> None:
    started = asyncio.Event()

    async def work() -> int:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if last is not None:
                raise last from None
        return 7

    task = asyncio.create_task(guarded(work, MESSAGE))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_of_something_else_is_a_bug_of_the_work() -> None:
    async def work() -> int:
        lost = asyncio.create_task(asyncio.sleep(60))
        lost.cancel()
        await lost
        return 7

    error = await guarded(work, MESSAGE)

    assert isinstance(error, UpstreamError)
    assert "CancelledError" in detail_of(error)


class FatalError(BaseException):
    """Neither an Exception nor an end of the process."""


async def test_what_is_more_than_a_bug_passes() -> None:
    async def work() -> int:
        raise FatalError

    with pytest.raises(FatalError):
        await guarded(work, MESSAGE)


def test_an_error_without_detail_tells_the_record_nothing() -> None:
    assert detail_of(UpstreamError(MESSAGE)) == ""
