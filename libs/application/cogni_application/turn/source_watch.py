"""Whether a reader may still read all that an answer comes from, asked again while it is read."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from cogni_application.turn.replay import withheld
from cogni_domain.access.scope import Scope
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.run_log import NumberedDelta, RunStatus
from cogni_kernel import DocumentId, Err, Ok, Result

RECHECK_S = 1.0
"""How long a source that was taken away can still be read from, in a stream that was open already."""

RETRY_S = 0.1


class SourceWatch:
    """The sources of one answer under one reader's eyes. A source that was seen once counts to the end.

    Args:
        sources: Returns what the run has been given so far.
        scope: Resolves the reader's reach, anew each time.

    Source:
        DESIGN D23.
    """

    def __init__(
        self,
        lineage: LineagePolicy,
        sources: Callable[[], Awaitable[Result[frozenset[DocumentId]]]],
        scope: Callable[[], Awaitable[Result[Scope]]],
    ) -> None:
        self._lineage = lineage
        self._sources = sources
        self._scope = scope
        self._known: frozenset[DocumentId] = frozenset()
        self._reach: Scope | None = None

    async def may_see(self) -> Result[bool]:
        """Tell whether every source may be read, as the documents stand now.

        As a rule one query: the reach is resolved again only where it would not suffice any more.
        """
        found = await self._sources()
        if isinstance(found, Err):
            return found
        self._known |= found.value
        if not self._known:
            return Ok(value=True)
        if self._reach is not None:
            readable = await self._lineage.may_read_all(self._known, self._reach)
            if isinstance(readable, Err) or readable.value:
                return readable
        scope = await self._scope()
        if isinstance(scope, Err):
            return scope
        self._reach = scope.value
        return await self._lineage.may_read_all(self._known, scope.value)

    async def watched(
        self, status: RunStatus, deltas: AsyncIterator[NumberedDelta]
    ) -> AsyncIterator[NumberedDelta]:
        """Yield deltas for as long as they may be seen; from then on nothing but how the run ended."""
        loop = asyncio.get_running_loop()
        due = loop.time() + RECHECK_S
        async for numbered in deltas:
            if loop.time() >= due:
                if not await self._may_go_on():
                    async for told in withheld(status, _before(numbered, deltas), numbered.cursor):
                        yield told
                    return
                due = loop.time() + RECHECK_S
            yield numbered

    async def _may_go_on(self) -> bool:
        """Return the answer, however long it takes to have one: nothing is shown meanwhile."""
        while isinstance(answer := await self.may_see(), Err):
            if not answer.error.retryable:
                return False
            await asyncio.sleep(RETRY_S)
        return answer.value


async def _before(
    first: NumberedDelta, rest: AsyncIterator[NumberedDelta]
) -> AsyncIterator[NumberedDelta]:
    yield first
    async for numbered in rest:
        yield numbered
