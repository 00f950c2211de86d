"""What every `DocumentStorePort` promises of its writes, and of what indexing reads."""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from cogni_domain.jobs import Lane
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_kernel import ConflictError, DocumentId
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import (
    ACME,
    GLOBEX,
    HANDBOOK,
    HOSTILE_TEXTS,
    HR,
    HR_LEADS,
    TICKETS,
    a_corpus,
    a_document,
    an_index_job,
    passages,
    put,
    put_a_family,
    stored,
)
from cogni_testing.doubles import START

LEASE = timedelta(minutes=1)
HALF_A_PAIR = "\ud83d"
"""What a file name that is not UTF-8, or a broken client, may leave in a text."""


class DocumentWritesContract(ABC):
    """Rows and the jobs that follow from them, in one transaction."""

    @abstractmethod
    async def make_store(self) -> DocumentStorePort:
        """Return a store; a second call in one test returns another over the same data."""

    @abstractmethod
    async def make_queue(self) -> QueuePort:
        """Return the queue over the same data."""

    async def due(self) -> list[str]:
        """Take all jobs of the indexing lane; return their keys in order."""
        queue, keys = await self.make_queue(), []
        while leased := ok(await queue.dequeue(Lane.INDEXING, LEASE)):
            keys += [each.job.key for each in leased]
        return keys

    async def test_a_corpus_is_created_once_and_stays_as_it_was(self) -> None:
        store = await self.make_store()

        first = ok(await store.put_corpus(a_corpus()))
        second = ok(await store.put_corpus(replace(a_corpus(generation=2), name="Another")))

        assert first == second == a_corpus()

    async def test_corpora_come_by_id_and_never_those_of_another_tenant(self) -> None:
        store = await self.make_store()
        for corpus in (a_corpus(TICKETS), a_corpus(), a_corpus(tenant=GLOBEX)):
            ok(await store.put_corpus(corpus))

        assert ok(await store.corpora(ACME)) == [a_corpus(), a_corpus(TICKETS)]

    async def test_the_moment_read_through_is_kept_in_utc(self) -> None:
        store = await self.make_store()
        ok(await store.put_corpus(a_corpus()))
        moment = datetime(2026, 3, 2, 12, 30, 15, 250, tzinfo=timezone(timedelta(hours=5)))

        ok(await store.note_indexed_through(a_corpus(), moment))

        (found,) = ok(await store.corpora(ACME))
        assert found.indexed_through == moment
        assert found.indexed_through.utcoffset() == timedelta()

    async def test_a_document_comes_back_as_it_was_put(self) -> None:
        store = await self.make_store()
        document = replace(a_document(rule=HR_LEADS.except_for("u:bob")), url=None)

        chunks = await put(store, document, "one", "two")

        assert await stored(store, "leave") == document
        assert ok(await store.chunks_of(ACME, [document.id])) == chunks

    async def test_passages_come_in_their_order(self) -> None:
        store = await self.make_store()
        document = a_document()
        chunks = passages(document, *map(str, range(12)))

        ok(await store.put(document, chunks[::-1], []))

        assert ok(await store.chunks_of(ACME, [document.id])) == chunks

    async def test_a_newer_version_replaces_the_older_one_and_its_passages(self) -> None:
        store = await self.make_store()
        await put(store, a_document(), "one", "two", "three")

        chunks = await put(store, a_document(version=2), "four")

        assert await stored(store, "leave") == a_document(version=2)
        assert ok(await store.chunks_of(ACME, [DocumentId("leave")])) == chunks

    @pytest.mark.parametrize("version", [1, 2])
    async def test_a_version_that_is_not_newer_changes_nothing(self, version: int) -> None:
        store = await self.make_store()
        chunks = await put(store, a_document(version=2), "stays")
        await self.due()
        late = replace(a_document(version=version, rule=HR), title="Late")

        ok(await store.put(late, passages(late, "late"), [replace(an_index_job(late), key="late")]))

        assert await stored(store, "leave") == a_document(version=2)
        assert ok(await store.chunks_of(ACME, [DocumentId("leave")])) == chunks
        assert await self.due() == []

    async def test_every_write_brings_its_jobs(self) -> None:
        store = await self.make_store()
        document = a_document()
        await put(store, document)
        relabel = replace(an_index_job(document), key="relabel")
        remove = replace(an_index_job(document), key="remove")

        ok(await store.change_rule(ACME, document.id, HR, [relabel]))
        ok(await store.delete(ACME, [document.id], [remove]))

        assert await self.due() == ["leave:1", "relabel", "remove"]

    async def test_a_document_without_passages_is_kept(self) -> None:
        store = await self.make_store()

        ok(await store.put(a_document(), [], []))

        assert await stored(store, "leave") == a_document()
        assert ok(await store.chunks_of(ACME, [DocumentId("leave")])) == []

    async def test_a_deleted_document_is_gone_with_its_passages(self) -> None:
        store = await self.make_store()
        await put(store, a_document("one"))
        await put(store, a_document("two"))
        both = [DocumentId("one"), DocumentId("never-there")]

        assert ok(await store.delete(ACME, both, [])) == 1
        assert ok(await store.delete(ACME, both, [])) == 0

        assert await stored(store, "one") is None
        assert ok(await store.chunks_of(ACME, [DocumentId("one")])) == []
        assert await stored(store, "two") is not None

    async def test_a_deleted_document_can_come_back_at_any_version(self) -> None:
        store = await self.make_store()
        await put(store, a_document(version=7))
        ok(await store.delete(ACME, [DocumentId("leave")], []))

        chunks = await put(store, a_document(version=1))

        assert ok(await store.chunks_of(ACME, [DocumentId("leave")])) == chunks

    async def test_one_source_gives_one_document_of_a_corpus(self) -> None:
        store = await self.make_store()
        first = a_document("one")
        await put(store, first)
        double = replace(a_document("two"), source_id="one")

        refused = err(await store.put(double, [], []), ConflictError)
        ok(await store.put(replace(double, corpus_id=TICKETS), [], []))
        ok(await store.put(replace(first, version=2), [], []))

        assert refused.retryable
        assert [d.id for d in ok(await store.known(ACME, HANDBOOK, ["one"]))] == [first.id]

    async def test_a_rule_of_a_document_that_is_gone_changes_nothing(self) -> None:
        store = await self.make_store()

        ok(await store.change_rule(ACME, DocumentId("never-there"), HR, []))

        assert ok(await store.source_ids(ACME, HANDBOOK, "", 10)) == []

    async def test_a_write_never_touches_another_tenant(self) -> None:
        store = await self.make_store()
        theirs = a_document(tenant=GLOBEX)
        chunks = await put(store, theirs, "theirs")
        attached = a_document("leave!1", tenant=GLOBEX, parent=theirs.id)
        await put(store, attached)
        await put(store, a_document(version=5), "ours")

        ok(await store.change_rule(ACME, theirs.id, HR, []))
        assert ok(await store.attached(ACME, theirs.id)) == []
        assert ok(await store.delete(ACME, [theirs.id], [])) == 1

        assert ok(await store.known(GLOBEX, HANDBOOK, ["leave"])) == [theirs]
        assert ok(await store.attached(GLOBEX, theirs.id)) == [attached]
        assert ok(await store.chunks_of(GLOBEX, [theirs.id])) == chunks

    async def test_source_ids_come_in_order_and_in_parts_without_what_is_attached(self) -> None:
        store = await self.make_store()
        await put_a_family(store)
        names = ["B", "a", "a/b", "b", "\u00e9", "\uffee", "\U0001f600"]
        for name in reversed(names):
            await put(store, a_document(name))
        await put(store, a_document("elsewhere", corpus=TICKETS))

        found: list[tuple[str, DocumentId]] = []
        while part := ok(
            await store.source_ids(ACME, HANDBOOK, found[-1][0] if found else "", limit=3)
        ):
            assert len(part) <= 3
            found += part

        assert found == [(name, DocumentId(name)) for name in sorted([*names, "mail"])]

    async def test_many_source_ids_are_looked_up_at_once(self) -> None:
        store = await self.make_store()
        for name in ("one", "two", "three"):
            await put(store, a_document(name))
        asked = ["one", "three", *(f"absent-{n}" for n in range(10_000))]

        found = ok(await store.known(ACME, HANDBOOK, asked))

        assert {document.source_id for document in found} == {"one", "three"}
        assert ok(await store.known(ACME, TICKETS, asked)) == []

    async def test_any_text_is_a_source_id(self) -> None:
        store = await self.make_store()
        texts = (*HOSTILE_TEXTS, HALF_A_PAIR)
        for text in texts:
            await put(store, replace(a_document(text), title=text, url=text), text)

        for text in texts:
            (document,) = ok(await store.known(ACME, HANDBOOK, [text]))
            (chunk,) = ok(await store.chunks_of(ACME, [DocumentId(text)]))
            assert (document.source_id, document.title, document.url) == (text, text, text)
            assert (chunk.document_id, chunk.text) == (document.id, text)
        assert ok(await store.delete(ACME, [DocumentId("a")], [])) == 1
        assert len(ok(await store.known(ACME, HANDBOOK, texts))) == len(texts) - 1

    async def test_the_gap_list_is_replaced_a_source_document_at_a_time(self) -> None:
        store = await self.make_store()
        two = [_gap("b", "encrypted"), _gap("b!1", "too_large")]
        ok(await store.put_gaps(ACME, HANDBOOK, "b", [_gap("b", "corrupt")]))
        ok(await store.put_gaps(ACME, HANDBOOK, "a", [_gap("a", "empty")]))
        ok(await store.put_gaps(ACME, TICKETS, "a", [_gap("a", "bounded")]))
        ok(await store.put_gaps(GLOBEX, HANDBOOK, "a", [_gap("a", "bounded")]))

        ok(await store.put_gaps(ACME, HANDBOOK, "b", two))
        assert ok(await store.gaps(ACME, HANDBOOK)) == [_gap("a", "empty"), *two]

        ok(await store.put_gaps(ACME, HANDBOOK, "a", []))
        assert ok(await store.gaps(ACME, HANDBOOK)) == two

    async def test_a_write_that_brings_a_gap_list_replaces_it_with_the_document(self) -> None:
        store = await self.make_store()
        source = a_document().source_id
        damaged, partial = _gap(source, "corrupt"), _gap(source, "partial")
        ok(await store.put_gaps(ACME, HANDBOOK, source, [damaged]))

        async def after(version: int, gaps: list[Gap] | None) -> list[Gap]:
            ok(await store.put(a_document(version=version), (), (), gaps))
            return list(ok(await store.gaps(ACME, HANDBOOK)))

        assert await after(1, None) == [damaged]
        assert await after(2, [partial]) == [partial]
        assert await after(2, []) == [partial], "a version that is not newer changes nothing"
        assert await after(3, []) == []

    async def test_passages_of_several_documents_come_in_one_reading(self) -> None:
        store = await self.make_store()
        leave = await put(store, a_document("leave"), "one", "two")
        travel = await put(store, a_document("travel"), "three")
        await put(store, a_document("other"), "four")
        named = [DocumentId(name) for name in ("travel", "leave", "absent", "travel")]

        found = ok(await store.chunks_of(ACME, named))

        assert sorted(found, key=lambda chunk: chunk.id) == sorted(
            [*leave, *travel], key=lambda chunk: chunk.id
        )
        assert [c for c in found if c.document_id == DocumentId("leave")] == leave
        assert ok(await store.chunks_of(GLOBEX, named)) == []
        assert ok(await store.chunks_of(ACME, [])) == []


def _gap(source_id: str, reason: str) -> Gap:
    return Gap(source_id, f"{source_id}.pdf", reason, "Remove the password.", START)
