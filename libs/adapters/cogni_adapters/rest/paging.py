"""Lists that are given in parts, to the very last one."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_domain.knowledge.source import SourceDocument, SourcePage
from cogni_kernel import ConflictError, HumanText, InvalidArgumentError, UpstreamError

MAX_PARTS = 100_000

Part = tuple[Sequence[Any], bool]
"""Some rows, and whether they are the last."""

NO_PLACE = UpstreamError(
    HumanText("The source forgot our place in its list twice. Ingest again when it is less busy."),
    retryable=False,
)

ListedPart = tuple[Sequence[SourceDocument], str | None]
"""Documents, and the source's own word for where the next ones begin."""


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


async def part_at(cursor: str | None, read: Callable[[str], Awaitable[ListedPart]]) -> SourcePage:
    """Return the part at a cursor. Where the source forgot the place, it begins again from the start, once.

    What is listed twice so is taken in once. A cursor holds how often that happened and the source's place.
    """
    restarts, _, place = (cursor or "0 ").partition(" ")
    try:
        documents, following = await read(place)
    except SourceFailedError as failed:
        if not place or not isinstance(failed.error, ConflictError | InvalidArgumentError):
            raise
        if restarts != "0":
            raise SourceFailedError(NO_PLACE) from failed
        restarts = "1"
        documents, following = await read("")
    return SourcePage(documents, None if following is None else f"{restarts} {following}")
