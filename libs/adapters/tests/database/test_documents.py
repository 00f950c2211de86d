from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa

from cogni_adapters.database import documents as documents_module
from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import DISK_FULL, Database
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.database.tables.knowledge import chunks, document_readers, documents
from cogni_domain.access.rule import AccessRule
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import DocumentId, Ok, Result, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.access_rules import AccessRulesContract
from cogni_testing.contracts.document_store import DocumentStoreContract
from cogni_testing.contracts.knowledge import (
    ACME,
    EVERYONE,
    HANDBOOK,
    HR,
    HR_LEADS,
    a_document,
    an_index_job,
    passages,
)
from cogni_testing.doubles import FrozenClock

Open = Callable[[], Database]


class OneFile:
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_store(self) -> DocumentStorePort:
        return DatabaseDocumentStoreAdapter(self.open_database())

    async def make_rules(self) -> AccessRulesPort:
        return DatabaseAccessRulesAdapter(self.open_database())

    async def make_queue(self) -> QueuePort:
        return DatabaseQueueAdapter(self.open_database(), FrozenClock())


class TestDatabaseDocumentStore(OneFile, DocumentStoreContract):
    pass


class TestDatabaseAccessRules(OneFile, AccessRulesContract):
    pass


async def test_a_passage_of_another_version_is_a_mistake(open_database: Open) -> None:
    store = DatabaseDocumentStoreAdapter(open_database())
    stray = passages(a_document(version=2))

    with pytest.raises(ValueError, match=r"not passages of leave, version 1: .*leave:2:0"):
        await store.put(a_document(), stray, [])

    assert ok(await store.known(ACME, HANDBOOK, ["leave"])) == []


async def test_a_document_is_not_written_without_its_job(
    open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DatabaseDocumentStoreAdapter(open_database())
    document = a_document(rule=HR_LEADS)
    ok(await store.put(document, passages(document, "one", "two"), []))
    later = replace(document, version=2, rule=EVERYONE)
    monkeypatch.setattr(documents_module, "enqueue", _broken)

    err(await store.put(later, passages(later), [an_index_job(later)]), UpstreamError)
    err(await store.change_rule(ACME, later.id, HR, [an_index_job(later)]), UpstreamError)
    err(await store.delete(ACME, [later.id], [an_index_job(later)]), UpstreamError)

    assert ok(await store.known(ACME, HANDBOOK, ["leave"])) == [document]
    assert len(ok(await store.chunks_of(ACME, [document.id]))) == 2


def _broken(*_: object) -> bool:
    raise sa.exc.OperationalError("INSERT", {}, Exception("disk I/O error"))


async def test_a_full_disk_loses_nothing(
    open_database: Open, fill_disk: Callable[[Database], Callable[[], None]]
) -> None:
    database = open_database()
    store = DatabaseDocumentStoreAdapter(database)
    before = passages(a_document(), "small")
    ok(await store.put(a_document(), before, []))
    free = fill_disk(database)
    later = a_document(version=2, rule=HR)
    large = passages(later, *["much text " * 1_000] * 100)

    error = err(await store.put(later, large, [an_index_job(later)]), UpstreamError)
    assert error.message == DISK_FULL

    free()
    again = DatabaseDocumentStoreAdapter(open_database())
    assert ok(await again.known(ACME, HANDBOOK, ["leave"])) == [a_document()]
    assert ok(await again.chunks_of(ACME, [DocumentId("leave")])) == before
    ok(await store.put(later, large, [an_index_job(later)]))
    assert ok(await again.chunks_of(ACME, [DocumentId("leave")])) == large


async def test_of_older_versions_and_deleted_documents_no_row_stays(open_database: Open) -> None:
    database = open_database()
    store = DatabaseDocumentStoreAdapter(database)
    document = a_document(rule=AccessRule.any_of("g:wiki/hr", "g:wiki/legal"))
    later = a_document(version=2, rule=HR)

    def rows(connection: sa.Connection) -> Result[list[int | None]]:
        tables = (documents, chunks, document_readers)
        counts = [sa.select(sa.func.count()).select_from(table) for table in tables]
        return Ok([connection.scalar(count) for count in counts])

    ok(await store.put(document, passages(document, "one", "two"), []))
    assert ok(await database.read(rows)) == [1, 2, 2]
    ok(await store.put(later, passages(later, "one"), []))
    assert ok(await database.read(rows)) == [1, 1, 1]
    ok(await store.delete(ACME, [document.id], []))
    assert ok(await database.read(rows)) == [0, 0, 0]
