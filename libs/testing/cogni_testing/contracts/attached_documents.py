"""What every `DocumentStorePort` promises of documents that are attached to others."""

from abc import ABC, abstractmethod
from dataclasses import replace

from cogni_domain.ports.document_store import DocumentStorePort
from cogni_kernel import DocumentId, NotFoundError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import (
    ACME,
    EVERYONE,
    HR,
    HR_LEADS,
    a_document,
    an_index_job,
    passages,
    put,
    put_a_family,
    stored,
)


class AttachedDocumentsContract(ABC):
    """They come, go and are read with the document that they are attached to."""

    @abstractmethod
    async def make_store(self) -> DocumentStorePort:
        """Return a store with nothing in it."""

    async def test_what_is_attached_goes_with_its_document(self) -> None:
        store = await self.make_store()
        mail, letter, scan = await put_a_family(store)

        assert ok(await store.attached(ACME, mail.id)) == [letter]
        assert ok(await store.delete(ACME, [mail.id], [])) == 3

        for gone in (mail, letter, scan):
            assert await stored(store, gone.source_id) is None
            assert ok(await store.chunks_of(ACME, [gone.id])) == []

    async def test_what_is_attached_has_its_documents_rule(self) -> None:
        store = await self.make_store()
        mail, letter, scan = await put_a_family(store)

        ok(await store.change_rule(ACME, mail.id, HR_LEADS, []))

        for document in (mail, letter, scan):
            assert await stored(store, document.source_id) == replace(document, rule=HR_LEADS)
            (chunk,) = ok(await store.chunks_of(ACME, [document.id]))
            assert chunk.readers == HR_LEADS.readers

    async def test_a_new_version_with_another_rule_takes_along_what_is_attached(self) -> None:
        store = await self.make_store()
        mail, letter, scan = await put_a_family(store)

        await put(store, replace(mail, version=2, rule=HR))

        assert await stored(store, letter.source_id) == replace(letter, rule=HR)
        assert await stored(store, scan.source_id) == replace(scan, rule=HR)

    async def test_what_is_attached_late_gets_the_rule_of_now(self) -> None:
        store = await self.make_store()
        mail = a_document("mail", EVERYONE)
        await put(store, mail)
        ok(await store.change_rule(ACME, mail.id, HR, []))

        await put(store, a_document("mail!1", EVERYONE, parent=mail.id))

        letter = await stored(store, "mail!1")
        assert letter is not None
        assert letter.rule == HR

    async def test_nothing_is_attached_to_a_document_that_is_gone(self) -> None:
        store = await self.make_store()
        letter = a_document("mail!1", parent=DocumentId("mail"))

        err(await store.put(letter, passages(letter), [an_index_job(letter)]), NotFoundError)

        assert await stored(store, "mail!1") is None
