"""What every `DocumentStorePort` promises to who asks with a scope."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.knowledge.corpus import Chunk, Document
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_kernel import ChunkId, DocumentId, NotFoundError, Ok
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import (
    ACME,
    ALICE,
    ALL_BUT_BOB,
    BOB,
    EVERYONE,
    GLOBEX,
    HANDBOOK,
    HOSTILE_TEXTS,
    HR,
    HR_LEADS,
    IN_10_000_GROUPS,
    IN_HR,
    IN_HR_AND_LEADS,
    LEGAL,
    NOBODY,
    TICKETS,
    a_document,
    passages,
    reach,
)
from cogni_testing.fixtures import fake_principal

BERLIN = AccessRule.any_of("a:site=berlin")
IN_BERLIN = fake_principal(id="bert", attributes={"site": "berlin"})
FOR_HELEN = fake_principal(id="robot", groups=["wiki/legal"], on_behalf_of=IN_HR)
HR_ROBOT_FOR_HELEN = fake_principal(id="robot", groups=["wiki/hr"], on_behalf_of=IN_HR)

WHO_MAY_READ = (
    (EVERYONE, ALICE, True),
    (NOBODY, ALICE, False),
    (NOBODY, IN_HR_AND_LEADS, False),
    (HR, IN_HR, True),
    (HR, ALICE, False),
    (HR, IN_10_000_GROUPS, True),
    (LEGAL, IN_10_000_GROUPS, False),
    (HR_LEADS, IN_HR_AND_LEADS, True),
    (HR_LEADS, IN_HR, False),
    (HR_LEADS, fake_principal(groups=["wiki/leads"]), False),
    (HR_LEADS, IN_10_000_GROUPS, False),
    (HR.restricted_to(), IN_HR, False),
    (ALL_BUT_BOB, ALICE, True),
    (ALL_BUT_BOB, BOB, False),
    (HR.except_for("g:wiki/leads"), IN_HR, True),
    (HR.except_for("g:wiki/leads"), IN_HR_AND_LEADS, False),
    (AccessRule.any_of("u:bob", "g:wiki/hr"), BOB, True),
    (AccessRule.any_of("u:bob", "g:wiki/hr"), ALICE, False),
    (BERLIN, IN_BERLIN, True),
    (BERLIN, ALICE, False),
    (HR, FOR_HELEN, False),
    (HR, HR_ROBOT_FOR_HELEN, True),
    (HR.except_for("u:robot"), HR_ROBOT_FOR_HELEN, False),
)


class DocumentReadsContract(ABC):
    """The predicate is inside every query, and what a scope admits is decided by the rows of now."""

    @abstractmethod
    async def make_store(self) -> DocumentStorePort:
        """Return a store; a second call in one test returns another over the same data."""

    @abstractmethod
    async def make_rules(self) -> AccessRulesPort:
        """Return the compound rules over the same data."""

    async def put_text(self, store: DocumentStorePort, document: Document, *texts: str) -> Chunk:
        """Write a document; return its first passage."""
        chunks = passages(document, *texts)
        ok(await store.put(document, chunks, []))
        return chunks[0]

    async def scope_of(self, principal: Principal = ALICE) -> Scope:
        """Return what a principal may read of the handbook, as of now."""
        return await reach(await self.make_rules(), principal)

    async def seen(self, store: DocumentStorePort, chunk: Chunk, scope: Scope) -> bool:
        """Tell whether a scope admits a passage; all ways of asking must agree."""
        document = chunk.document_id
        got = isinstance(await store.get(document, scope), Ok)
        current = [found.id for found in ok(await store.current([chunk.id], scope))]
        readable = ok(await store.readable([document], scope))
        assert current == ([chunk.id] if got else [])
        assert readable == (frozenset({document}) if got else frozenset())
        return got

    @pytest.mark.parametrize(("rule", "principal", "may_read"), WHO_MAY_READ)
    async def test_who_may_read_reads_and_nobody_else(
        self, rule: AccessRule, principal: Principal, *, may_read: bool
    ) -> None:
        store = await self.make_store()
        chunk = await self.put_text(store, a_document(rule=rule))

        assert await self.seen(store, chunk, await self.scope_of(principal)) is may_read

    async def test_a_permitted_document_is_read_as_it_was_put(self) -> None:
        store = await self.make_store()
        document = a_document(rule=HR_LEADS)
        await self.put_text(store, document)

        found = ok(await store.get(document.id, await self.scope_of(IN_HR_AND_LEADS)))

        assert found == document

    async def test_absent_and_forbidden_cannot_be_told_apart(self) -> None:
        store = await self.make_store()
        await self.put_text(store, a_document("secret", HR))
        scope = await self.scope_of()

        forbidden = err(await store.get(DocumentId("secret"), scope), NotFoundError)
        absent = err(await store.get(DocumentId("never-there"), scope), NotFoundError)

        assert forbidden == absent
        assert forbidden.detail == absent.detail

    async def test_a_tenant_never_sees_what_another_has_under_the_same_ids(self) -> None:
        store = await self.make_store()
        theirs = await self.put_text(store, a_document(tenant=GLOBEX), "theirs")
        scope = await self.scope_of()
        assert not await self.seen(store, theirs, scope)

        ours = await self.put_text(store, a_document(), "ours")

        assert ours.id == theirs.id
        assert [found.text for found in ok(await store.current([ours.id], scope))] == ["ours"]

    async def test_who_may_read_another_tenants_document_may_not_read_ours_of_that_id(self) -> None:
        store = await self.make_store()
        await self.put_text(store, a_document(rule=EVERYONE, tenant=GLOBEX))

        ours = await self.put_text(store, a_document(rule=HR))

        assert not await self.seen(store, ours, await self.scope_of())

    async def test_a_corpus_outside_the_scope_is_not_seen(self) -> None:
        store = await self.make_store()
        chunk = await self.put_text(store, a_document(corpus=TICKETS))
        rules = await self.make_rules()

        assert not await self.seen(store, chunk, await reach(rules))
        assert not await self.seen(store, chunk, await reach(rules, corpora=[]))
        assert await self.seen(store, chunk, await reach(rules, corpora=[HANDBOOK, TICKETS]))

    async def test_a_document_that_moved_to_another_corpus_left_the_first(self) -> None:
        store = await self.make_store()
        await self.put_text(store, a_document())

        chunk = await self.put_text(store, a_document(version=2, corpus=TICKETS))

        assert not await self.seen(store, chunk, await self.scope_of())

    @pytest.mark.parametrize("rule", [HR, HR_LEADS, NOBODY, EVERYONE.except_for("u:alice")])
    async def test_a_narrowed_rule_holds_even_for_a_scope_that_was_resolved_before(
        self, rule: AccessRule
    ) -> None:
        store = await self.make_store()
        chunk = await self.put_text(store, a_document())
        scope = await self.scope_of()
        assert await self.seen(store, chunk, scope)

        ok(await store.change_rule(ACME, chunk.document_id, rule, []))

        assert not await self.seen(store, chunk, scope)

    @pytest.mark.parametrize("rule", [EVERYONE, HR, HR_LEADS, HR.except_for("u:bob")])
    async def test_a_widened_rule_holds_from_the_next_scope_on(self, rule: AccessRule) -> None:
        store = await self.make_store()
        chunk = await self.put_text(store, a_document(rule=LEGAL))
        assert not await self.seen(store, chunk, await self.scope_of(IN_HR_AND_LEADS))

        ok(await store.change_rule(ACME, chunk.document_id, rule, []))

        scope = await self.scope_of(IN_HR_AND_LEADS)
        assert await self.seen(store, chunk, scope)
        assert [c.readers for c in ok(await store.current([chunk.id], scope))] == [rule.readers]

    async def test_a_group_that_was_left_is_gone_from_the_next_scope_on(self) -> None:
        store = await self.make_store()
        chunk = await self.put_text(store, a_document(rule=HR_LEADS))
        assert await self.seen(store, chunk, await self.scope_of(IN_HR_AND_LEADS))

        assert not await self.seen(store, chunk, await self.scope_of(IN_HR))

    async def test_what_is_attached_is_seen_exactly_with_its_document(self) -> None:
        store = await self.make_store()
        mail = a_document("mail", HR)
        await self.put_text(store, mail)
        letter = await self.put_text(store, a_document("mail!1", HR, parent=mail.id))

        assert await self.seen(store, letter, await self.scope_of(IN_HR))
        ok(await store.change_rule(ACME, mail.id, ALL_BUT_BOB, []))
        assert not await self.seen(store, letter, await self.scope_of(BOB))
        assert await self.seen(store, letter, await self.scope_of(ALICE))

    async def test_a_passage_of_an_older_version_is_dropped(self) -> None:
        store = await self.make_store()
        stale = await self.put_text(store, a_document(), "old")
        chunk = await self.put_text(store, a_document(version=2), "new")
        scope = await self.scope_of()

        assert ok(await store.current([stale.id, chunk.id], scope)) == [chunk]

    async def test_a_passage_of_a_deleted_document_is_dropped(self) -> None:
        store = await self.make_store()
        chunk = await self.put_text(store, a_document())
        ok(await store.delete(ACME, [chunk.document_id], []))

        assert not await self.seen(store, chunk, await self.scope_of())

    async def test_passages_come_in_the_order_asked_each_once(self) -> None:
        store = await self.make_store()
        document = a_document()
        chunks = passages(document, "zero", "one", "two", "three")
        ok(await store.put(document, chunks, []))
        secret = await self.put_text(store, a_document("secret", HR))
        asked = [chunks[3], secret, chunks[0], chunks[3], chunks[2]]

        found = ok(await store.current([c.id for c in asked], await self.scope_of()))

        assert found == [chunks[3], chunks[0], chunks[2]]

    async def test_a_thousand_passages_are_checked_at_once_for_ten_thousand_tokens(self) -> None:
        store = await self.make_store()
        open_one, secret = a_document("open", HR), a_document("secret", LEGAL)
        chunks = passages(open_one, *map(str, range(500)))
        hidden = passages(secret, *map(str, range(500)))
        ok(await store.put(open_one, chunks, []))
        ok(await store.put(secret, hidden, []))
        asked = [c.id for pair in zip(chunks, hidden, strict=True) for c in pair]

        found = ok(await store.current(asked, await self.scope_of(IN_10_000_GROUPS)))

        assert found == chunks

    async def test_nothing_asked_is_nothing_found(self) -> None:
        store, scope = await self.make_store(), await self.scope_of()

        assert ok(await store.current([], scope)) == []
        assert ok(await store.readable([], scope)) == frozenset()
        assert ok(await store.current([ChunkId("never:1:0")], scope)) == []

    async def test_of_many_documents_the_readable_ones_are_told(self) -> None:
        store = await self.make_store()
        for number in range(20):
            document = a_document(f"d{number}", HR if number % 2 else LEGAL)
            await self.put_text(store, document)
        asked = [DocumentId(f"d{number}") for number in range(1_000)]

        found = ok(await store.readable(iter(asked), await self.scope_of(IN_HR)))

        assert found == {DocumentId(f"d{number}") for number in range(1, 20, 2)}

    async def test_readers_whose_names_look_alike_are_different(self) -> None:
        store = await self.make_store()
        chunks = {}
        for text in HOSTILE_TEXTS:
            rule = AccessRule.any_of(f"u:{text}", "g:wiki/hr").except_for(f"u:not {text}")
            chunks[text] = await self.put_text(store, a_document(text, rule))

        for text in HOSTILE_TEXTS:
            scope = await self.scope_of(fake_principal(id=text))
            found = ok(await store.readable([c.document_id for c in chunks.values()], scope))
            assert found == {DocumentId(text)}
            assert await self.seen(store, chunks[text], scope)

    async def test_reading_while_others_write_sees_one_version_or_the_other(self) -> None:
        store = await self.make_store()
        versions = [replace(a_document(version=n), title=f"v{n}") for n in range(1, 21)]
        await self.put_text(store, versions[0], "v1", "v1")
        scope = await self.scope_of()

        async def read(other: DocumentStorePort) -> Sequence[Chunk]:
            return ok(await other.chunks_of(ACME, [DocumentId("leave")]))

        async def write() -> None:
            for document in versions[1:]:
                await self.put_text(store, document, *[document.title] * (document.version % 3))

        other = await self.make_store()
        reads = asyncio.gather(*(read(other) for _ in range(40)))
        await write()

        for chunks in await reads:
            assert len({(c.title, c.text, c.document_version) for c in chunks}) <= 1
        assert ok(await store.get(DocumentId("leave"), scope)) == versions[-1]
