import asyncio

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


async def test_the_end_of_the_process_is_not_held_up() -> None:
    async def work() -> int:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        await guarded(work, MESSAGE)


def test_an_error_without_detail_tells_the_record_nothing() -> None:
    assert detail_of(UpstreamError(MESSAGE)) == ""
