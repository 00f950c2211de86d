"""What every `KeywordSearchPort` promises."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cogni_domain.access.predicate import admits
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import IndexId
from cogni_kernel import CorpusId, DocumentId, TenantId
from cogni_testing.assertions import ok
from cogni_testing.contracts.keyword_matching import INDEX, KeywordMatchingContract
from cogni_testing.contracts.knowledge import (
    ACME,
    ALICE,
    EVERYONE,
    GLOBEX,
    HANDBOOK,
    HOSTILE_TEXTS,
    HR,
    HR_LEADS,
    IN_10_000_GROUPS,
    IN_HR,
    IN_HR_AND_LEADS,
    NOBODY,
    TICKETS,
    a_document,
    passages,
)
from cogni_testing.contracts.predicates import MANY_RULES, many_predicates, rule_document
from cogni_testing.fixtures import fake_principal, fake_scope


class KeywordSearchContract(KeywordMatchingContract):
    """Terms are found among what a scope admits, and nothing else is found or counted."""

    async def test_an_index_that_nothing_was_written_to_has_nothing(self) -> None:
        search = await self.make_search()

        assert await self.found(search) == []
        assert ok(await search.delete(INDEX, [DocumentId("leave")])) == 0
        assert ok(await search.relabel(INDEX, DocumentId("leave"), HR.readers)) == 0
        assert ok(await search.upsert(INDEX, [], [])) == 0

    async def test_the_predicate_is_applied_before_k(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document("theirs", HR), *["leave"] * 50)
        await self.put(search, a_document("ours"), "some words about leave and much besides")

        assert await self.found(search, k=1) == ["ours:1:0"]

    @pytest.mark.parametrize("one_in", [10, 100, 1_000])
    async def test_a_rare_reader_gets_k_or_all_there_are(self, one_in: int) -> None:
        search = await self.make_search()
        chunks = []
        for number in range(200):
            document = a_document(f"d{number}")
            readers = [NOBODY if (number * 10 + n) % one_in else HR for n in range(10)]
            chunks += [
                replace(chunk, readers=rule.readers)
                for chunk, rule in zip(passages(document, *"0123456789"), readers, strict=True)
            ]
        ok(await search.upsert(INDEX, chunks, [["leave"]] * len(chunks)))

        found = await self.found(search, "leave", fake_scope(IN_HR), k=150)

        assert len(set(found)) == min(150, 2_000 // one_in)
        assert set(found) <= {str(chunk.id) for chunk in chunks[::one_in]}

    @pytest.mark.parametrize(
        ("rule", "principal", "may_find"),
        [
            (HR, IN_HR, True),
            (HR, ALICE, False),
            (HR, IN_10_000_GROUPS, True),
            (NOBODY, ALICE, False),
            (NOBODY, IN_10_000_GROUPS, False),
            (
                AccessRule.any_of("a:site=berlin"),
                fake_principal(attributes={"site": "berlin"}),
                True,
            ),
            (AccessRule.any_of("a:site=berlin"), ALICE, False),
            (HR_LEADS, IN_HR_AND_LEADS, True),
            (HR_LEADS, IN_HR, False),
            (HR.except_for("u:helen"), IN_HR, False),
            (HR.except_for("u:helen"), IN_HR_AND_LEADS, True),
        ],
    )
    async def test_who_may_read_finds_and_nobody_else(
        self, rule: AccessRule, principal: Principal, *, may_find: bool
    ) -> None:
        search = await self.make_search()
        await self.put(search, a_document(rule=rule), "leave")

        scope = fake_scope(principal, rules=[rule] if rule.is_compound else [])
        assert await self.found(search, scope=scope) == (["leave:1:0"] if may_find else [])

    async def test_any_predicate_finds_what_the_reference_admits(self) -> None:
        search = await self.make_search()
        documents = [rule_document(rule) for rule in MANY_RULES]
        for document in documents:
            await self.put(search, document, "leave")

        for predicate in many_predicates():
            hits = ok(await search.search(INDEX, ["leave"], predicate, 100))
            admitted = {d.id for d in documents if admits(predicate, d.labels())}
            assert {hit.document_id for hit in hits} == admitted, predicate

    async def test_an_index_holds_one_tenants_corpus_in_one_generation(self) -> None:
        search = await self.make_search()
        others = (
            IndexId(GLOBEX, HANDBOOK),
            IndexId(ACME, TICKETS),
            IndexId(ACME, HANDBOOK, generation=2),
        )
        for index in others:
            document = a_document(tenant=index.tenant_id, corpus=index.corpus_id)
            await self.put(search, document, "leave", index=index)

        assert await self.found(search) == []
        assert ok(await search.delete(INDEX, [DocumentId("leave")])) == 0
        assert ok(await search.relabel(INDEX, DocumentId("leave"), HR.readers)) == 0
        scope = fake_scope(corpora=[str(HANDBOOK), str(TICKETS)])
        assert await self.found(search, scope=scope, index=others[1]) == ["leave:1:0"]
        assert await self.found(search, scope=scope, index=others[2]) == ["leave:1:0"]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (("a/b", "c"), ("a", "b/c")),
            (("..", "x"), ("x", "..")),
            (("Acme", "x"), ("acme", "x")),
            (("e\u0301", "x"), ("\u00e9", "x")),
            (("a" * 300, "x"), ("a" * 301, "x")),
        ],
    )
    async def test_ids_that_look_alike_are_different_indexes(
        self, one: tuple[str, str], other: tuple[str, str]
    ) -> None:
        search = await self.make_search()
        index = IndexId(TenantId(one[0]), CorpusId(one[1]))
        document = a_document(tenant=index.tenant_id, corpus=index.corpus_id)
        scope = fake_scope(fake_principal(tenant=one[0]), [one[1]])
        await self.put(search, document, "leave", index=index)

        elsewhere = IndexId(TenantId(other[0]), CorpusId(other[1]))
        assert await self.found(search, scope=scope, index=elsewhere) == []
        assert await self.found(search, scope=scope, index=index) == ["leave:1:0"]

    @pytest.mark.parametrize(
        "scope",
        [
            fake_scope(fake_principal(tenant=str(GLOBEX))),
            fake_scope(corpora=[str(TICKETS)]),
            fake_scope(corpora=[]),
        ],
    )
    async def test_a_scope_that_is_not_of_the_index_finds_nothing(self, scope: Scope) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "leave")

        assert await self.found(search, scope=scope) == []

    @pytest.mark.parametrize(("tenant", "corpus"), [(GLOBEX, HANDBOOK), (ACME, TICKETS)])
    async def test_a_passage_of_another_place_is_never_found_in_an_index(
        self, tenant: TenantId, corpus: CorpusId
    ) -> None:
        search = await self.make_search()
        stray = replace(passages(a_document())[0], tenant_id=tenant, corpus_id=corpus)

        await search.upsert(INDEX, [stray], [["leave"]])

        assert await self.found(search) == []

    async def test_writing_twice_is_writing_once(self) -> None:
        search = await self.make_search()
        for _ in range(2):
            await self.put(search, a_document(), "leave leave", "leave and more words")

        assert await self.found(search) == ["leave:1:0", "leave:1:1"]

    async def test_a_document_is_replaced_whole_and_others_stay(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "leave one", "leave two", "leave three")
        await self.put(search, a_document("other"), "leave and much more besides")

        await self.put(search, a_document(version=2), "leave")

        assert await self.found(search) == ["leave:2:0", "other:1:0"]
        assert await self.found(search, "two") == []

    async def test_many_documents_come_in_one_call(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document("a"), "leave of old")
        texts = ("leave", "leave for some")
        chunks = [chunk for name in "ab" for chunk in passages(a_document(name, version=2), *texts)]

        ok(await search.upsert(INDEX, chunks, [analyse(chunk.text) for chunk in chunks]))

        assert set(await self.found(search)) == {"a:2:0", "a:2:1", "b:2:0", "b:2:1"}

    async def test_what_is_deleted_is_not_found(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document("a"), "leave", "leave")
        await self.put(search, a_document("b"), "leave")
        both = [DocumentId("a"), DocumentId("never-there")]

        assert ok(await search.delete(INDEX, both)) == 2
        assert ok(await search.delete(INDEX, both)) == 0

        assert await self.found(search) == ["b:1:0"]

    async def test_other_readers_hold_at_once_and_terms_stay(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "leave leave", "leave of parents")
        await self.put(search, a_document("other"), "leave")
        leave = DocumentId("leave")
        before = await self.found(search, "parents leave")

        assert ok(await search.relabel(INDEX, leave, HR.readers)) == 2
        assert ok(await search.relabel(INDEX, leave, HR.readers)) == 0

        assert await self.found(search) == ["other:1:0"]
        ok(await search.relabel(INDEX, DocumentId("other"), HR.readers))
        assert await self.found(search, "parents leave", fake_scope(IN_HR)) == before

    async def test_many_documents_get_the_same_readers_at_once(self) -> None:
        search = await self.make_search()
        for name in ("leave", "other", "third"):
            await self.put(search, a_document(name), "leave", "leave")
        names = [DocumentId(name) for name in ("leave", "other", "never", "leave")]

        assert ok(await search.relabel_all(INDEX, names, HR.readers)) == 4
        assert ok(await search.relabel_all(INDEX, names, HR.readers)) == 0

        assert await self.found(search) == ["third:1:0", "third:1:1"]
        assert len(await self.found(search, "leave", fake_scope(IN_HR))) == 6

    async def test_what_nobody_may_read_can_be_given_to_somebody_and_taken_again(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document(rule=NOBODY), "leave")
        leave = DocumentId("leave")
        assert await self.found(search) == []

        assert ok(await search.relabel(INDEX, leave, EVERYONE.readers)) == 1
        assert await self.found(search) == ["leave:1:0"]

        assert ok(await search.relabel(INDEX, leave, NOBODY.readers)) == 1
        assert await self.found(search) == []

    async def test_documents_and_readers_that_look_alike_are_different(self) -> None:
        search = await self.make_search()
        for text in HOSTILE_TEXTS:
            await self.put(search, a_document(text, AccessRule.any_of(f"u:{text}")), "leave")

        for text in HOSTILE_TEXTS:
            scope = fake_scope(fake_principal(id=text))
            assert await self.found(search, scope=scope) == [f"{text}:1:0"]
        assert ok(await search.delete(INDEX, [DocumentId("a")])) == 1
        other = fake_scope(fake_principal(id="a\u0000"))
        assert await self.found(search, scope=other) == ["a\u0000:1:0"]

    async def test_a_search_beside_writes_finds_what_is_allowed_and_nothing_else(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document("always"), "leave")
        await self.put(search, a_document("never", HR), "leave")

        async def write() -> None:
            for version in range(1, 20):
                document = a_document(f"d{version % 3}", HR, version=version)
                await self.put(search, document, *["leave"] * (version % 4 + 1))
                ok(await search.delete(INDEX, [DocumentId(f"d{(version + 1) % 3}")]))

        async def look() -> Sequence[list[str]]:
            return [await self.found(search) for _ in range(20)]

        _, *looks = await asyncio.gather(write(), look(), look())

        assert all(found == ["always:1:0"] for each in looks for found in each)
