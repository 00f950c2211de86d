"""The intranet as a source: the contract of every connector, and the demo's own history."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import pytest

from cogni_acme.connector import IntranetConnector
from cogni_acme.content import Content, Item, Kind, load_content
from cogni_acme.intranet import Intranet
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_testing import ok
from cogni_testing.contracts.connector import ConnectorContract


class PlainExtractor(ExtractorPort):
    """The bytes as one paragraph; what each file was called is kept."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        self.names.append(name)
        text = data.decode("utf-8", "replace")
        return ExtractedDocument(name, (Block(BlockKind.PARAGRAPH, text),), "text/plain")


def _item(name: str, text: str) -> Item:
    return Item(name, Kind.FILE, name, name, name, text.encode(), AccessRule.everyone())


class TestIntranetConnector(ConnectorContract):
    def make_connector(self, texts: Mapping[str, str]) -> ConnectorPort:
        self.intranet = Intranet(_item(name, text) for name, text in texts.items())
        return self.reopen()

    def reopen(self) -> ConnectorPort:
        return IntranetConnector(self.intranet, PlainExtractor(), page_size=10)

    def write(self, name: str, text: str) -> None:
        self.intranet.put(_item(name, text))

    def remove(self, name: str) -> None:
        self.intranet.remove(name)


@pytest.fixture(scope="module")
def acme() -> Content:
    return load_content("acme")


async def _all(connector: ConnectorPort) -> dict[str, SourceDocument]:
    found: list[SourceDocument] = []
    cursor = None
    while True:
        page = ok(await connector.enumerate(cursor))
        found.extend(page.documents)
        if (cursor := page.next_cursor) is None:
            return {document.source_id: document for document in found}


async def _history(acme: Content) -> list[ChangeEvent]:
    """Return what is told when the intranet goes from its first revision to its second."""
    intranet = Intranet(acme.items(1))
    changes = IntranetConnector(intranet, PlainExtractor()).changes()
    intranet.become(acme.items(2))
    told: list[ChangeEvent] = []
    with suppress(TimeoutError):
        while True:
            told.append(await asyncio.wait_for(anext(changes), timeout=0.05))
    return told


async def test_every_page_ticket_comment_and_file_is_listed_with_its_rule(acme: Content) -> None:
    connector = IntranetConnector(Intranet(acme.items()), PlainExtractor())

    found = await _all(connector)

    assert {key: document.rule for key, document in found.items()} == {
        item.id: item.rule for item in acme.items()
    }


async def test_what_cannot_be_mapped_is_listed_as_a_gap_to_be(acme: Content) -> None:
    found = await _all(IntranetConnector(Intranet(acme.items()), PlainExtractor()))

    rule = found["files/archive/store-plan-2009.txt"].rule

    assert isinstance(rule, Unmappable)
    assert "no longer knows" in rule.explanation


async def test_a_ticket_and_its_internal_comment_are_read_apart(acme: Content) -> None:
    connector = IntranetConnector(Intranet(acme.items()), PlainExtractor())
    found = await _all(connector)

    ticket = ok(await connector.extract(found["tickets/customer/REQ-4471"]))
    comment = ok(await connector.extract(found["tickets/customer/REQ-4471/internal-3"]))

    assert isinstance(ticket, ExtractedDocument)
    assert isinstance(comment, ExtractedDocument)
    assert "2231" not in ticket.blocks[0].text
    assert "2231" in comment.blocks[0].text


async def test_a_file_is_extracted_under_its_own_name(acme: Content) -> None:
    extractor = PlainExtractor()
    connector = IntranetConnector(Intranet(acme.items()), extractor)
    found = await _all(connector)

    await connector.extract(found["files/handbook/benefits.docx"])
    await connector.extract(found["tickets/it/REQ-4417"])

    assert extractor.names == ["benefits.docx", "REQ-4417.md"]


async def test_the_history_is_told_deletion_first(acme: Content) -> None:
    told = [(event.kind, event.source_id) for event in await _history(acme)]

    assert told == [
        (ChangeKind.DELETED, "wiki/products/flowline-100"),
        (ChangeKind.EDITED, "wiki/finance/cash-forecast"),
        (ChangeKind.EDITED, "wiki/handbook/remote-work"),
        (ChangeKind.MOVED, "wiki/products/discount-ladder"),
        (ChangeKind.ACL_CHANGED, "wiki/projects/harbour/api-notes"),
    ]


async def test_a_move_is_told_with_the_rule_of_the_new_place(acme: Content) -> None:
    (moved,) = [event for event in await _history(acme) if event.kind is ChangeKind.MOVED]

    assert moved.document is not None
    assert moved.document.rule == AccessRule.any_of("g:directory/finance")


def test_a_page_of_no_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one document"):
        IntranetConnector(Intranet(()), PlainExtractor(), page_size=0)
