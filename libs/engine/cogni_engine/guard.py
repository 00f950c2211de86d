"""Foreign code, called so that its bugs become errors and cannot end a run unexplained."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cogni_kernel import Error, HumanText, UpstreamError, encodable

T = TypeVar("T")

GRACE_S = 0.5
MAX_TRACE_CHARACTERS = 8_000


async def guarded(work: Callable[[], Awaitable[T]], message: HumanText) -> T | UpstreamError:
    """Return what `work` gives, or an error that is not retryable and says `message`.

    A cancellation of the caller passes, whatever the work makes of it; work that is deaf to it is left behind
    after `GRACE_S`. A cancellation that the work let out of a task of its own is a bug like any other.
    """

    async def begun() -> T:
        return await work()

    inner = asyncio.create_task(begun())
    try:
        await asyncio.wait({inner})
    except asyncio.CancelledError:
        inner.cancel()
        inner.add_done_callback(_forget)
        await asyncio.wait({inner}, timeout=GRACE_S)
        raise
    try:
        return inner.result()
    except (Exception, asyncio.CancelledError) as bug:
        return broken(bug, message)


def _forget(task: "asyncio.Task[T]") -> None:
    if not task.cancelled():
        task.exception()


def broken(bug: BaseException, message: HumanText) -> UpstreamError:
    """Return the error of a bug; where it happened is for the run record alone."""
    trace = "".join(traceback.format_exception(bug))[-MAX_TRACE_CHARACTERS:]
    return UpstreamError(message, retryable=False, detail={"trace": encodable(trace)})


def detail_of(error: Error) -> str:
    """Return what an error says to the run record alone, a line a fact."""
    return encodable("\n".join(f"{name}: {fact}" for name, fact in error.detail.items()))
