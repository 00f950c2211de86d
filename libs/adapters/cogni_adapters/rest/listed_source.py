"""What a source that is asked over HTTP does alike, whatever it holds."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

from cogni_adapters.rest.failures import listed, read
from cogni_adapters.rest.follow import follow
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, SourceDocument, SourcePage
from cogni_kernel import Result


class ListedSource(ABC):
    """A connector made of two questions: a part of the list, and one document's content.

    Either may raise a SourceFailedError, which is its result then. What changes is found by comparing lists.
    """

    _authority: str
    _pause_s: float

    @property
    def id(self) -> str:
        return self._authority

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        return await listed(self._page(cursor))

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        return await read(self._content(document))

    def changes(self) -> AsyncIterator[ChangeEvent]:
        return follow(self._page, self._pause_s)

    @abstractmethod
    async def _page(self, cursor: str | None) -> SourcePage:
        """Return the part of the list at a cursor."""

    @abstractmethod
    async def _content(self, document: SourceDocument) -> ExtractedDocument | Skipped:
        """Return what a listed document holds."""
