"""Foreign code, called so that its bugs become errors and cannot end a run unexplained."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cogni_kernel import Error, HumanText, UpstreamError, encodable

T = TypeVar("T")

MAX_TRACE_CHARACTERS = 8_000


async def guarded(work: Callable[[], Awaitable[T]], message: HumanText) -> T | UpstreamError:
    """Return what `work` gives, or an error that is not retryable and says `message`.

    A cancellation of the caller passes, even where the work swallowed it or turned it into something else.
    One that the work let out of a task of its own is a bug like any other.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    given: T | UpstreamError
    try:
        given = await work()
    except (Exception, asyncio.CancelledError) as bug:
        given = broken(bug, message)
    if task.cancelling() > before:
        raise asyncio.CancelledError
    return given


def broken(bug: BaseException, message: HumanText) -> UpstreamError:
    """Return the error of a bug; where it happened is for the run record alone."""
    trace = "".join(traceback.format_exception(bug))[-MAX_TRACE_CHARACTERS:]
    return UpstreamError(message, retryable=False, detail={"trace": encodable(trace)})


def detail_of(error: Error) -> str:
    """Return what an error says to the run record alone, a line a fact."""
    return encodable("\n".join(f"{name}: {fact}" for name, fact in error.detail.items()))
