"""Lists that are given in parts, to the very last one."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from cogni_adapters.rest.failures import unexpected

MAX_PARTS = 100_000

Part = tuple[Sequence[Any], bool]
"""Some rows, and whether they are the last."""


async def every(read: Callable[[int], Awaitable[Part]]) -> list[Any]:
    """Return all rows of a list that is asked for by the number of the first one.

    A part that is shorter than was asked for is not the last: servers cut what they give without a word. One
    without rows is.
    """
    found: list[Any] = []
    for _ in range(MAX_PARTS):
        rows, is_last = await read(len(found))
        found.extend(rows)
        if is_last or not rows:
            return found
    raise unexpected("a list without end")
