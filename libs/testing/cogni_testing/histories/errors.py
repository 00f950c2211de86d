"""The error that a test of permissions ends with, and how several such tests are waited for."""

import asyncio
from collections.abc import Awaitable, Iterable


class DifferenceError(AssertionError):
    """The product showed something else than the source allows."""


async def together(work: Iterable[Awaitable[None]]) -> None:
    """Wait for all, then let the first error out, where there is one."""
    for ended in await asyncio.gather(*work, return_exceptions=True):
        if ended is not None:
            raise ended
