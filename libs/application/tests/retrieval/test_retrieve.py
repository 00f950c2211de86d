"""Question in, permitted passages out; the database has the last word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.run_log import MemoryRunLogAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.transcripts import MemoryTranscriptStoreAdapter
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.retrieval import retrieve
from cogni_application.retrieval.passages import RunPassages
from cogni_application.retrieval.retrieve import (
    MAX_FETCH,
    RetrievalRequest,
    RetrievalResult,
    RetrievalService,
)
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.principal import MembershipState, Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.citations import CitationIssuer
from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.run_record import RetrievalStep
from cogni_kernel import (
    ConflictError,
    CorpusId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotPermittedError,
    Ok,
    Result,
    RunRef,
    UpstreamError,
)
from cogni_testing import (
    START,
    CorpusFixture,
    FrozenClock,
    HashEmbedder,
    LexicalReranker,
    corpus_fixture,
    err,
    fake_principal,
    ok,
)
from cogni_testing.contracts.runs import an_opening

DOWN = Err(UpstreamError(HumanText("It does not answer.")))
EVERYONE, HR = AccessRule.everyone(), AccessRule.any_of("g:wiki/hr")
STAFF, PEOPLE = fake_principal(id="staff"), fake_principal(id="people", groups=["wiki/hr"])
QUESTION = "parental leave"
LEAVE = corpus_fixture(
    {"Leave": "Parental leave is long.", "Exceptions": "Parental leave has exceptions."},
    {"Leave": EVERYONE, "Exceptions": HR},
)


@dataclass
class Asked:
    """What a store was asked for."""

    predicate: Predicate
    k: int


class Desk:
    """A retrieval service over memory; every store remembers what it was asked."""

    def __init__(self, *corpora: CorpusFixture) -> None:
        self.state = MemoryState()
        self.documents = MemoryDocumentStoreAdapter(self.state)
        self.keywords, self.vectors = MemoryKeywordSearchAdapter(), MemoryVectorStoreAdapter()
        self.embedder, self.reranker = HashEmbedder(), LexicalReranker()
        self.embedded: list[str] = []
        self.asked: list[Asked] = []
        self.corpora = corpora
        self.service = RetrievalService(
            ScopePolicy(MemoryAccessRulesAdapter(self.state)),
            self.documents,
            self.keywords,
            self.vectors,
            self.embedder,
            self.reranker,
            RelevancePolicy(0.3),
        )

    async def plant(self) -> None:
        for corpus in self.corpora:
            ok(await self.documents.put_corpus(corpus.corpus))
            for document in corpus.documents:
                ok(await self.documents.put(document, corpus.chunks_of(document), ()))
            texts = [c.indexed_text for c in corpus.chunks]
            vectors = ok(await self.embedder.embed(texts))
            ok(await self.vectors.upsert(corpus.corpus.index, corpus.chunks, vectors))
            terms = [analyse(text) for text in texts]
            ok(await self.keywords.upsert(corpus.corpus.index, corpus.chunks, terms))
        embed, search, knn = self.embedder.embed, self.keywords.search, self.vectors.knn

        async def embedding(texts: Sequence[str]) -> Any:
            self.embedded.extend(texts)
            return await embed(texts)

        async def searching(index: Any, terms: Any, predicate: Predicate, k: int) -> Any:
            self.asked.append(Asked(predicate, k))
            return await search(index, terms, predicate, k)

        async def near(index: Any, vector: Any, predicate: Predicate, k: int) -> Any:
            self.asked.append(Asked(predicate, k))
            return await knn(index, vector, predicate, k)

        self.embedder.embed = embedding  # type: ignore[method-assign]
        self.keywords.search = searching  # type: ignore[method-assign]
        self.vectors.knn = near  # type: ignore[method-assign]

    def request(
        self, question: str = QUESTION, principal: Principal = STAFF, k: int = 8
    ) -> RetrievalRequest:
        places = tuple(corpus.corpus.id for corpus in self.corpora)
        return RetrievalRequest(question, principal, places, k)

    async def find(self, *args: Any, **more: Any) -> RetrievalResult:
        return ok(await self.service.retrieve(self.request(*args, **more)))


async def planted(*corpora: CorpusFixture) -> Desk:
    desk = Desk(*corpora)
    await desk.plant()
    return desk


def titles(result: RetrievalResult) -> list[str]:
    return [scored.chunk.title for scored in result.chosen]


async def test_each_person_finds_what_may_be_read() -> None:
    desk = await planted(LEAVE)

    assert titles(await desk.find()) == ["Leave"]
    assert sorted(titles(await desk.find(principal=PEOPLE))) == ["Exceptions", "Leave"]
    outsider = fake_principal(tenant="globex")
    assert (await desk.find(principal=outsider)).is_empty


async def test_both_searches_apply_the_scope_of_who_asks() -> None:
    desk = await planted(LEAVE)

    result = await desk.find(principal=PEOPLE)

    scope = ok(await desk.service.scopes.resolve(PEOPLE, [LEAVE.corpus.id]))
    assert [asked.predicate for asked in desk.asked] == [scope.predicate] * 2
    assert result.decision.scope_digest == scope.digest
    assert (await desk.find()).decision.scope_digest != scope.digest


@pytest.mark.parametrize("question", ["", " ", "\n\t", "\u200b", "\ufeff\u2060", "\u2800"])
async def test_a_blank_question_is_refused_before_anything_is_embedded(question: str) -> None:
    desk = await planted(LEAVE)

    err(await desk.service.retrieve(desk.request(question)), InvalidArgumentError)

    assert (desk.embedded, desk.asked) == ([], [])


@pytest.mark.parametrize("question", ["???", "\U0001f600", "a" * 5000, "' OR 1=1 --", "\u0000"])
async def test_an_odd_question_finds_nothing_that_does_not_fit(question: str) -> None:
    desk = await planted(LEAVE)

    found = await desk.service.retrieve(desk.request(question))

    if not isinstance(found, Err):
        assert titles(found.value) == []


@pytest.mark.parametrize(
    "question",
    [
        "a",
        "休",
        "the of and is it",
        "leave " * 10_000,
        "No. 21-cv-04417",
        "休暇 REQ-4471 отпуск leave",
    ],
)
async def test_a_question_of_any_length_and_script_is_answered(question: str) -> None:
    desk = await planted(LEAVE)

    ok(await desk.service.retrieve(desk.request(question)))


async def test_a_docket_number_finds_its_own_case_and_no_neighbour() -> None:
    dockets = [f"21-cv-{number:05}" for number in range(4410, 4425)]
    texts = {docket: f"Docket {docket} concerns a delivery of pumps." for docket in dockets}
    desk = await planted(corpus_fixture(texts, dict.fromkeys(texts, EVERYONE)))

    found = await desk.service.retrieve(desk.request("21-cv-04417"))

    assert titles(ok(found))[0] == "21-cv-04417"


async def test_a_question_is_a_question_to_the_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = await planted(LEAVE)
    seen = []

    def analysed(text: str) -> tuple[str, ...]:
        seen.append(text)
        return ("leav",)

    monkeypatch.setattr(retrieve, "analyse_question", analysed)

    await desk.find()

    assert seen == [QUESTION]


async def test_who_has_no_scope_is_refused_before_anything_is_searched() -> None:
    desk = await planted(LEAVE)
    for principal in (fake_principal(tenant=None), fake_principal(state=MembershipState.UNKNOWN)):
        err(await desk.service.retrieve(desk.request(principal=principal)), NotPermittedError)

    assert (desk.embedded, desk.asked) == ([], [])


async def test_where_there_is_no_corpus_nothing_is_embedded_or_found() -> None:
    desk = await planted(LEAVE)
    elsewhere = replace(desk.request(), corpora=())
    unknown = replace(desk.request(), corpora=(CorpusId("tickets"),))

    for request in (elsewhere, unknown):
        result = ok(await desk.service.retrieve(request))
        assert (result.is_empty, result.indexed_through) == (True, None)
        assert result.decision.scope_digest
    assert (desk.embedded, desk.asked) == ([], [])


async def test_an_index_of_another_embedder_is_refused() -> None:
    other = replace(LEAVE, corpus=replace(LEAVE.corpus, embedder_version="other@1"))
    desk = await planted(other)

    err(await desk.service.retrieve(desk.request()), ConflictError)
    assert desk.embedded == []


async def test_a_stale_index_shows_nothing_that_the_database_refuses() -> None:
    desk = await planted(LEAVE)
    page = LEAVE.document("Leave")

    ok(await desk.documents.change_rule(page.tenant_id, page.id, AccessRule.any_of(), ()))
    revoked = await desk.find(principal=PEOPLE)
    ok(await desk.documents.delete(page.tenant_id, [LEAVE.document("Exceptions").id], ()))
    deleted = await desk.find(principal=PEOPLE)

    assert (titles(revoked), revoked.decision.stale) == (["Exceptions"], 1)
    assert (titles(deleted), deleted.decision.stale) == ([], 2)


async def test_what_is_dropped_is_refilled_from_further_down() -> None:
    many = corpus_fixture(
        {f"Page {n:03}": f"Parental leave, part {n}." for n in range(300)},
        {f"Page {n:03}": EVERYONE for n in range(300)},
    )
    desk = await planted(many)
    best = [chunk.document_id for chunk in many.chunks[:290]]
    for document in best:
        ok(await desk.documents.change_rule(many.corpus.tenant_id, document, HR, ()))

    result = await desk.find(k=8)

    assert len(result.chosen) == 8
    assert not {scored.chunk.document_id for scored in result.chosen} & set(best)
    assert max(asked.k for asked in desk.asked) <= MAX_FETCH
    assert result.decision.stale > 0


async def test_searching_wider_ends_where_there_is_no_more() -> None:
    desk = await planted(LEAVE)
    for document in LEAVE.documents:
        ok(await desk.documents.delete(document.tenant_id, [document.id], ()))

    result = await desk.find(principal=PEOPLE)

    assert (result.is_empty, result.decision.stale) == (True, 2)
    assert len(desk.asked) == 2


async def test_at_most_three_passages_of_one_document_and_each_cut_has_its_reason() -> None:
    text = "\n\n".join(f"Parental leave, part {n}." for n in range(6))
    corpus = corpus_fixture(
        {"Long": text, "Short": "Parental leave, in short.", "Other": "Bicycles are repaired."},
        dict.fromkeys(("Long", "Short", "Other"), EVERYONE),
    )
    desk = await planted(corpus)

    whole = await desk.find(k=8)
    few = await desk.find(k=2)

    assert sorted(titles(whole)) == ["Long"] * 3 + ["Short"]
    reasons = list(whole.decision.cut.values())
    assert sorted(reasons) == ["below the relevance floor"] + ["enough of this document"] * 3
    assert set(whole.decision.chosen) == {str(c.chunk.id) for c in whole.chosen}
    assert not set(whole.decision.chosen) & set(whole.decision.cut)
    assert list(few.decision.cut.values()).count("beyond the number asked for") == 2
    assert len(few.chosen) == 2


async def test_only_the_first_candidates_are_looked_at_closely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"Page {n:03}" for n in range(120)]
    corpus = corpus_fixture(
        {n: f"Parental leave, {n}." for n in names}, dict.fromkeys(names, EVERYONE)
    )
    desk = await planted(corpus)
    ranked = []
    whole = desk.reranker.rank

    async def counted(question: str, chunks: Sequence[Chunk]) -> Any:
        ranked.append(len(chunks))
        return await whole(question, chunks)

    monkeypatch.setattr(desk.reranker, "rank", counted)
    result = await desk.find()

    assert ranked == [retrieve.OVERFETCH]
    far = [r for r in result.decision.cut.values() if r == "not among the first candidates"]
    assert len(far) == len(result.decision.cut) + len(result.chosen) - retrieve.OVERFETCH


async def test_several_corpora_are_searched_as_one() -> None:
    tickets = corpus_fixture(
        {"T1": "Parental leave was granted."}, {"T1": EVERYONE}, corpus="tickets"
    )
    desk = await planted(LEAVE, tickets)

    assert sorted(titles(await desk.find())) == ["Leave", "T1"]
    only = replace(desk.request(), corpora=(CorpusId("tickets"),))
    assert titles(ok(await desk.service.retrieve(only))) == ["T1"]


async def test_freshness_is_that_of_the_oldest_corpus_and_unknown_where_one_was_never_read() -> (
    None
):
    tickets = corpus_fixture({"T1": "Leave."}, {"T1": EVERYONE}, corpus="tickets")
    desk = await planted(LEAVE, tickets)
    assert (await desk.find()).indexed_through is None

    ok(await desk.documents.note_indexed_through(LEAVE.corpus, START))
    assert (await desk.find()).indexed_through is None
    ok(await desk.documents.note_indexed_through(tickets.corpus, START - timedelta(days=1)))
    assert (await desk.find()).indexed_through == START - timedelta(days=1)


@pytest.mark.parametrize(
    "call", ["corpora", "current", "search", "knn", "embed", "rank", "candidates"]
)
async def test_what_does_not_answer_is_an_error_and_never_an_empty_answer(call: str) -> None:
    desk = await planted(LEAVE)

    async def down(*_: object) -> object:
        return DOWN

    homes: dict[str, Any] = {
        "corpora": desk.documents,
        "current": desk.documents,
        "search": desk.keywords,
        "knn": desk.vectors,
        "embed": desk.embedder,
        "rank": desk.reranker,
        "candidates": desk.service.scopes.rules,
    }
    setattr(homes[call], call, down)

    assert await desk.service.retrieve(desk.request()) == DOWN


async def test_what_has_no_score_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = await planted(LEAVE)

    async def unsure(_: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        return Ok([ScoredChunk(chunk, float("nan")) for chunk in chunks])

    monkeypatch.setattr(desk.reranker, "rank", unsure)

    assert (await desk.find()).is_empty


class TestPassagesOfARun:
    """What a tool searches with."""

    async def passages(self, desk: Desk, principal: Principal = STAFF) -> RunPassages:
        log = MemoryRunLogAdapter(desk.state)
        ok(await log.open(an_opening("r1", "c1"), "me", START, []))
        self.steps: list[RetrievalStep] = []
        return RunPassages(
            desk.service,
            principal,
            (LEAVE.corpus.id,),
            8,
            CitationIssuer(RunRef("r1")),
            MemoryTranscriptStoreAdapter(desk.state, FrozenClock()),
            self.steps.append,
        )

    async def test_a_passage_keeps_its_handle_and_is_kept_before_it_is_given(self) -> None:
        desk = await planted(LEAVE)
        passages = await self.passages(desk, PEOPLE)

        first = ok(await passages.search(QUESTION))
        again = ok(await passages.search("exceptions of leave"))

        handles = {p.citation.chunk_id: p.handle for p in first}
        assert sorted(handles.values()) == ["s1", "s2"]
        assert all(handles[p.citation.chunk_id] == p.handle for p in again)
        assert set(desk.state.runs[RunRef("r1")].citations) == {"s1", "s2"}
        assert passages.documents() == {d.id for d in LEAVE.documents}
        assert len(self.steps) == 2

    @pytest.mark.parametrize("call", ["reserve_handles", "keep_citations"])
    async def test_what_could_not_be_kept_is_not_given(self, call: str) -> None:
        desk = await planted(LEAVE)
        passages = await self.passages(desk)

        async def down(*_: object) -> object:
            return DOWN

        setattr(passages.transcripts, call, down)

        assert await passages.search(QUESTION) == DOWN
        assert passages.found == {}

    async def test_addresses_in_the_passages_may_be_cited(self) -> None:
        page = corpus_fixture(
            {"Leave": "Parental leave: see (https://Wiki.example/leave/)."}, {"Leave": EVERYONE}
        )
        passages = await self.passages(await planted(page))

        ok(await passages.search(QUESTION))

        assert passages.urls == {"https://wiki.example/leave"}

    async def test_an_error_of_the_search_is_passed_on(self) -> None:
        passages = await self.passages(await planted(LEAVE))

        err(await passages.search(" "), InvalidArgumentError)
        assert self.steps == []
