"""A source of documents. The highest-stakes port: its rules decide who may read what."""

from collections.abc import AsyncIterator
from typing import Protocol

from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, SourceDocument, SourcePage
from cogni_kernel import Result


class ConnectorPort(Protocol):
    """Implementations must pass `contracts.connector.ConnectorContract`."""

    @property
    def id(self) -> str:
        """The source's name, stable: part of every document id."""
        ...

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        """Return one part of all documents, each with its rule; `cursor` None is the first part.

        The same cursor gives the documents after the same place, even after a restart.

        Errors:
            UpstreamError: The source did not answer.
        """
        ...

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        """Read one document's content.

        Errors:
            NotFoundError: It is gone since it was listed.
            UpstreamError: The source did not answer.
        """
        ...

    def changes(self) -> AsyncIterator[ChangeEvent]:
        """Yield what changes from now on; ends when the source tells no more."""
        ...
