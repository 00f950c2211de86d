"""What is derived from documents is shown only to who may still read all of them."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from cogni_domain.access.scope import Scope
from cogni_domain.conversations import PastTurn
from cogni_kernel import DocumentId, Err, Ok, Result


class Readable(Protocol):
    """Tells which documents a scope admits, as they stand now."""

    async def readable(
        self, documents: Iterable[DocumentId], scope: Scope
    ) -> Result[frozenset[DocumentId]]:
        """Return those of `documents` that exist and may be read."""
        ...


class LineagePolicy:
    """The one check before anything derived is used again.

    Source:
        DESIGN D23.
    """

    def __init__(self, documents: Readable) -> None:
        self._documents = documents

    async def may_read_all(self, documents: frozenset[DocumentId], scope: Scope) -> Result[bool]:
        """Tell whether the person may still read every one of `documents`; true for none."""
        if not documents:
            return Ok(True)
        found = await self._documents.readable(documents, scope)
        return found if isinstance(found, Err) else Ok(found.value >= documents)

    async def split(
        self, turns: Sequence[PastTurn], scope: Scope
    ) -> Result[Sequence[tuple[PastTurn, bool]]]:
        """Return each turn with whether it may be shown, in one look at the documents."""
        every = frozenset().union(*(turn.lineage for turn in turns))
        found = await self._documents.readable(every, scope)
        if isinstance(found, Err):
            return found
        return Ok([(turn, found.value >= turn.lineage) for turn in turns])
