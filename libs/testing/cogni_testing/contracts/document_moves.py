"""What every `DocumentStorePort` promises of documents that move, or change their readers by the thousand."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from cogni_domain.access.rule import AccessRule
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import DocumentId
from cogni_testing.assertions import ok
from cogni_testing.contracts.knowledge import (
    ACME,
    HANDBOOK,
    HR,
    HR_LEADS,
    a_document,
    put,
    put_a_family,
    stored,
)
from cogni_testing.doubles import START

LEASE = timedelta(minutes=1)


def _relabelled(documents: Sequence[DocumentId], rule: AccessRule) -> Sequence[Job]:
    assert documents
    return [
        Job("relabel", ACME, f"{document}@{rule.digest}", {"document_id": str(document)})
        for document in documents
    ]


class DocumentMovesContract(ABC):
    """Passages and versions stay as they are, and every document has its job."""

    @abstractmethod
    async def make_store(self) -> DocumentStorePort:
        """Return a store; a second call in one test returns another over the same data."""

    @abstractmethod
    async def make_queue(self) -> QueuePort:
        """Return the queue over the same data."""

    async def _relabels(self) -> set[str]:
        queue, keys = await self.make_queue(), set()
        while leased := ok(await queue.dequeue(Lane.INDEXING, LEASE)):
            keys |= {j.job.payload["document_id"] for j in leased if j.job.kind == "relabel"}
        return keys

    async def test_many_rules_change_at_once_with_what_is_attached(self) -> None:
        store = await self.make_store()
        mail, _, scan = await put_a_family(store)
        await put(store, a_document("other"))
        rules = {mail.id: HR, DocumentId("other"): HR_LEADS, DocumentId("nowhere"): HR}

        changed = ok(await store.change_rules(ACME, rules, _relabelled))

        assert changed == 4
        assert await stored(store, "mail!1!1") == replace(scan, rule=HR)
        assert await stored(store, "other") == a_document("other", HR_LEADS)
        assert await self._relabels() == {"mail", "mail!1", "mail!1!1", "other"}

    async def test_no_rule_at_all_changes_nothing(self) -> None:
        store = await self.make_store()

        assert ok(await store.change_rules(ACME, {}, _relabelled)) == 0

    async def test_a_move_takes_along_all_that_belongs_to_the_document(self) -> None:
        store = await self.make_store()
        mail, letter, _ = await put_a_family(store)
        chunks = await put(store, replace(mail, version=2), "Still here.")
        gap = Gap("mail!2", "x.txt", "encrypted", "Remove its password.", START)
        ok(await store.put_gaps(ACME, HANDBOOK, "mail", [gap]))
        later = START + timedelta(hours=1)
        moved = replace(
            mail,
            version=2,
            source_id="away/mail",
            rule=HR,
            updated_at=later,
            url="https://x.example",
        )

        assert ok(await store.move(moved, _relabelled)) is True

        assert await stored(store, "mail") is None
        assert await stored(store, "away/mail") == moved
        assert await stored(store, "away/mail!1") == replace(
            letter, source_id="away/mail!1", rule=HR
        )
        found = ok(await store.chunks_of(ACME, [mail.id]))
        assert [(c.id, c.text) for c in found] == [(c.id, c.text) for c in chunks]
        assert ok(await store.gaps(ACME, HANDBOOK)) == [replace(gap, source_id="away/mail!2")]
        ok(await store.put_gaps(ACME, HANDBOOK, "away/mail", []))
        assert ok(await store.gaps(ACME, HANDBOOK)) == []
        assert await self._relabels() == {"mail", "mail!1", "mail!1!1"}

    async def test_nothing_moves_to_where_another_document_is_or_from_nowhere(self) -> None:
        store = await self.make_store()
        await put(store, a_document("leave"))
        await put(store, a_document("taken"))
        onto = replace(a_document("leave", HR), source_id="taken")

        assert ok(await store.move(onto, _relabelled)) is False
        assert ok(await store.move(a_document("nowhere"), _relabelled)) is False

        assert await stored(store, "leave") == a_document("leave")
        assert await stored(store, "taken") == a_document("taken")
        assert await self._relabels() == set()
