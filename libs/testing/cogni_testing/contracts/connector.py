"""What every `ConnectorPort` promises."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta
from itertools import count

from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import ExtractedDocument
from cogni_domain.knowledge.source import ChangeKind, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_kernel import NotFoundError
from cogni_testing.assertions import err, ok

PATIENCE_S = 60.0
TEXTS = {f"page-{n:02}.txt": f"Number {n} says word{n}." for n in range(25)}


class ConnectorContract(ABC):
    """A source of text documents by name, which the test can change."""

    @abstractmethod
    def make_connector(self, texts: Mapping[str, str]) -> ConnectorPort:
        """Return a connector to a source that holds these texts, in several pages where there are many."""

    @abstractmethod
    def reopen(self) -> ConnectorPort:
        """Return another connector to the same source, as after a restart."""

    @abstractmethod
    def write(self, name: str, text: str) -> None:
        """Create a document at the source, or change it."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Delete a document at the source."""

    async def enumerate(
        self, connector: ConnectorPort, cursor: str | None = None
    ) -> list[SourceDocument]:
        """Return all documents from `cursor` on."""
        pages = await self.pages(connector, cursor)
        return [document for page in pages for document in page.documents]

    async def pages(self, connector: ConnectorPort, cursor: str | None = None) -> list[SourcePage]:
        """Return all pages from `cursor` on."""
        pages = [ok(await connector.enumerate(cursor))]
        while (cursor := pages[-1].next_cursor) is not None:
            pages.append(ok(await connector.enumerate(cursor)))
        return pages

    async def test_every_document_is_listed_once(self) -> None:
        found = await self.enumerate(self.make_connector(TEXTS))

        assert sorted(d.name for d in found) == sorted(TEXTS)
        assert len({d.source_id for d in found}) == len(TEXTS)

    async def test_a_source_without_documents_has_one_empty_page(self) -> None:
        page = ok(await self.make_connector({}).enumerate(None))

        assert (list(page.documents), page.next_cursor) == ([], None)

    async def test_every_document_says_who_may_read_it_or_why_that_cannot_be_told(self) -> None:
        for document in await self.enumerate(self.make_connector(TEXTS)):
            assert isinstance(document.rule, AccessRule | Unmappable)

    async def test_times_are_in_utc(self) -> None:
        for document in await self.enumerate(self.make_connector(TEXTS)):
            assert document.updated_at.utcoffset() == timedelta()

    async def test_a_cursor_goes_on_at_the_same_place_after_a_restart(self) -> None:
        first, *others = await self.pages(self.make_connector(TEXTS))
        expected = [d.source_id for page in others for d in page.documents]
        assert first.next_cursor is not None

        found = await self.enumerate(self.reopen(), first.next_cursor)

        assert [d.source_id for d in found] == expected

    async def test_what_stays_is_listed_even_while_others_come_and_go(self) -> None:
        connector = self.make_connector(TEXTS)
        first = ok(await connector.enumerate(None))
        gone, *stay = [d.name for d in first.documents]
        self.remove(gone)
        self.write("page-00-new.txt", "Came late.")

        rest = await self.enumerate(connector, first.next_cursor)

        assert {*stay, *(d.name for d in rest)} >= set(TEXTS) - {gone}

    async def test_the_id_stays_and_the_revision_changes_with_the_content(self) -> None:
        connector = self.make_connector({"page.txt": "Before."})
        (before,) = await self.enumerate(connector)
        (unchanged,) = await self.enumerate(self.reopen())
        self.write("page.txt", "After, and longer.")

        (after,) = await self.enumerate(connector)

        assert unchanged.revision == before.revision
        assert after.source_id == before.source_id
        assert after.revision != before.revision

    async def test_the_text_comes_out(self) -> None:
        connector = self.make_connector({"page.txt": "The bicycle shed is open."})
        (document,) = await self.enumerate(connector)

        found = ok(await connector.extract(document))

        assert isinstance(found, ExtractedDocument)
        assert "The bicycle shed is open." in "\n".join(b.text for b in found.blocks)

    async def test_a_document_that_is_gone_since_it_was_listed_is_not_found(self) -> None:
        connector = self.make_connector({"page.txt": "Soon gone."})
        (document,) = await self.enumerate(connector)
        self.remove("page.txt")

        err(await connector.extract(document), NotFoundError)

    async def test_a_change_is_told(self) -> None:
        connector = self.make_connector({"page.txt": "Before."})
        (document,) = await self.enumerate(connector)
        changes = connector.changes()
        waiting = asyncio.ensure_future(anext(changes))
        try:
            async with asyncio.timeout(PATIENCE_S):
                for turn in count(1):
                    if waiting.done():
                        break
                    self.write("page.txt", f"After, and longer by {turn}.")
                    await asyncio.wait([waiting], timeout=0.2)
            change = waiting.result()
        finally:
            waiting.cancel()

        assert (change.kind, change.source_id) == (ChangeKind.EDITED, document.source_id)

    async def test_a_deletion_is_told(self) -> None:
        names = iter(TEXTS)
        connector = self.make_connector(TEXTS)
        ids = {d.source_id for d in await self.enumerate(connector)}
        changes = connector.changes()
        waiting = asyncio.ensure_future(anext(changes))
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not waiting.done():
                    self.remove(next(names))
                    await asyncio.wait([waiting], timeout=1)
            change = waiting.result()
        finally:
            waiting.cancel()

        assert change.kind is ChangeKind.DELETED
        assert change.source_id in ids
        assert change.document is None
