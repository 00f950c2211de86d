"""What every `KeywordSearchPort` promises of terms, and of the order of what they find."""

from abc import ABC, abstractmethod

import pytest

from cogni_domain.access.scope import Scope
from cogni_domain.knowledge.analysis import analyse, analyse_question
from cogni_domain.knowledge.corpus import Document, IndexId
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_kernel import InvalidArgumentError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import (
    ACME,
    ALICE,
    HANDBOOK,
    HR,
    a_document,
    passages,
)
from cogni_testing.fixtures import fake_scope

INDEX = IndexId(ACME, HANDBOOK)
FOR_ALICE = fake_scope(ALICE)

HOSTILE_TERMS = (
    "*",
    "*:*",
    "readers:everyone",
    '"a" OR "b"',
    "a AND NOT b",
    "[a TO z]",
    "+(a)^2~",
    "a\\",
    "'; DROP TABLE passages; --",
    "{{term}}",
    "a\u0000b",
    "\u202ea",
    "\ud800a",
)


class KeywordMatchingContract(ABC):
    """Passages are found by their terms, best first, and nothing hidden moves the order."""

    @abstractmethod
    async def make_search(self) -> KeywordSearchPort:
        """Return a search with nothing in it."""

    async def put(
        self, search: KeywordSearchPort, document: Document, *texts: str, index: IndexId = INDEX
    ) -> None:
        """Write a document's passages, one for each text."""
        chunks = passages(document, *texts)
        assert ok(await search.upsert(index, chunks, [analyse(t) for t in texts])) == len(texts)

    async def found(
        self,
        search: KeywordSearchPort,
        question: str = "leave",
        scope: Scope = FOR_ALICE,
        *,
        k: int = 10,
        index: IndexId = INDEX,
    ) -> list[str]:
        """Return the ids of the passages that fit, best first."""
        hits = ok(await search.search(index, analyse_question(question), scope.predicate, k))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        return [str(hit.chunk_id) for hit in hits]

    async def test_a_passage_is_found_by_any_of_its_terms_and_says_whose_it_is(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "sick leave", "parental leave", "travel")

        [hit] = ok(await search.search(INDEX, ["parental"], FOR_ALICE.predicate, 10))

        assert (str(hit.chunk_id), str(hit.document_id)) == ("leave:1:1", "leave")
        assert hit.score > 0
        assert await self.found(search, "leave nowhere") == await self.found(search, "leave")
        assert await self.found(search, "nowhere") == []

    async def test_more_terms_rarer_terms_and_denser_terms_come_first(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document("filler"), *["leave alone"] * 5)
        await self.put(search, a_document("both"), "parental leave")
        await self.put(search, a_document("rare"), "parental matters")
        await self.put(search, a_document("dense"), "ferry ferry ferry and walk")
        await self.put(search, a_document("thin"), "ferry and walk and walk")

        found = await self.found(search, "parental leave")

        assert found[:2] == ["both:1:0", "rare:1:0"]
        assert len(found) == 7
        assert await self.found(search, "ferry") == ["dense:1:0", "thin:1:0"]

    @pytest.mark.parametrize("terms", [[], [""], ["", ""]])
    async def test_no_terms_find_nothing(self, terms: list[str]) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "leave")

        assert ok(await search.search(INDEX, terms, FOR_ALICE.predicate, 10)) == []

    async def test_a_passage_without_terms_is_never_found(self) -> None:
        search = await self.make_search()
        chunks = passages(a_document(), "!!!", "leave")

        assert ok(await search.upsert(INDEX, chunks, [[], ["leave"]])) == 2

        assert await self.found(search) == ["leave:1:1"]

    async def test_all_there_are_come_where_they_are_fewer_than_k(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "leave leave", "leave and travel")

        assert await self.found(search, k=1_000) == ["leave:1:0", "leave:1:1"]

    async def test_a_common_word_finds_as_many_as_are_asked_for(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document("a"), *["the leave"] * 30)
        await self.put(search, a_document("b"), *["the parents"] * 300)

        found = await self.found(search, "the leave", k=200)

        assert len(set(found)) == 200
        assert {f"a:1:{n}" for n in range(30)} == set(found[:30])

    async def test_what_a_reader_may_not_see_does_not_move_the_order(self) -> None:
        texts = ("parental leave", "sick leave at home", "parental matters", "leave leave", "home")
        alone, beside = await self.make_search(), await self.make_search()
        for search in (alone, beside):
            await self.put(search, a_document("open"), *texts)
        for number in range(20):
            hidden = a_document(f"hidden{number}", HR)
            await self.put(beside, hidden, "parental parental leave of many more words", "parental")

        for question in ("parental leave", "leave", "home sick parental", "matters of leave"):
            terms = analyse_question(question)
            expected = ok(await alone.search(INDEX, terms, FOR_ALICE.predicate, 10))
            assert ok(await beside.search(INDEX, terms, FOR_ALICE.predicate, 10)) == expected

    async def test_equal_passages_come_in_one_order_however_they_were_written(self) -> None:
        one, other = await self.make_search(), await self.make_search()
        names = [f"d{number}" for number in range(40)]
        for name in names:
            await self.put(one, a_document(name), "leave")
        chunks = [passages(a_document(name), "leave")[0] for name in reversed(names)]
        ok(await other.upsert(INDEX, chunks, [["leave"]] * len(chunks)))

        found = await self.found(one, k=7)

        assert len(found) == 7
        assert await self.found(other, k=7) == found == (await self.found(one, k=40))[:7]

    @pytest.mark.parametrize("k", [-1, 0, 1_001])
    async def test_a_k_out_of_range_is_refused(self, k: int) -> None:
        search = await self.make_search()

        err(await search.search(INDEX, ["leave"], FOR_ALICE.predicate, k), InvalidArgumentError)

    async def test_a_term_is_looked_up_as_it_stands_whatever_it_holds(self) -> None:
        search = await self.make_search()
        for number, term in enumerate(HOSTILE_TERMS):
            chunks = passages(a_document(f"d{number}"))
            ok(await search.upsert(INDEX, chunks, [[term, "a", "b"]]))
        await self.put(search, a_document("hidden", HR), "leave everyone")

        for number, term in enumerate(HOSTILE_TERMS):
            [hit] = ok(await search.search(INDEX, [term], FOR_ALICE.predicate, 10))
            assert str(hit.document_id) == f"d{number}"

    async def test_a_question_of_thousands_of_words_is_answered(self) -> None:
        search = await self.make_search()
        await self.put(search, a_document(), "leave of parents")
        question = "leave " + " ".join(f"word{number}" for number in range(5_000))

        assert await self.found(search, question) == ["leave:1:0"]

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("年假", "正式员工每年享有十五天年假。"),
            ("病気休暇", "病気休暇は年に十日です。"),
            ("휴가", "연차휴가는 15일입니다"),
            ("ลาป่วย", "พนักงานมีสิทธิลาป่วยได้สามสิบวัน"),
            ("إجازة", "يحق للموظف إِجَازَة سنوية"),
            ("छुट्टी", "वार्षिक छुट्टी पंद्रह दिन है।"),
            ("отпуск", "Сотрудники имеют право на отпуска."),
            ("Kündigungen", "Die Kündigung ist vier Wochen vorher einzureichen."),
            ("conge", "Les employés ont droit à cinq semaines de congés payés."),
            ("policies", "the policy on travel"),
            ("4471", "see REQ-4471"),
            ("REQ-4471", "approved in req-4471 today"),
            ("2.3.1", "released as v2.3.1"),
            ("ＷＩＦＩ", "the wifi password"),
            ("iPhone手机", "手机保修两年"),
        ],
    )
    async def test_a_question_finds_its_passage_in_any_script(
        self, question: str, text: str
    ) -> None:
        search = await self.make_search()
        await self.put(search, a_document("other"), "unrelated 无关 ไม่เกี่ยว чужое")
        await self.put(search, a_document(), text)

        assert await self.found(search, question) == ["leave:1:0"]
