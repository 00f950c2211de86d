"""What every `TranscriptStorePort` promises."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from cogni_domain.conversations import Conversation, PastTurn
from cogni_domain.knowledge.citations import Citation, CitationHandle
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.run_log import Ending, LogEntry, RunLogPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.reviews import Review, ReviewReason, Verdict
from cogni_domain.run_record import (
    ConfirmationStep,
    RetrievalStep,
    RunOpening,
    Sealing,
    Step,
    StripStep,
    step_payload,
)
from cogni_engine import ModelCallStep, ToolCallStep
from cogni_kernel import (
    ChunkId,
    ConversationId,
    DocumentId,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    PrincipalId,
    RunRef,
    TaskClass,
    TenantId,
    Usage,
)
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.runs import ACME, ALICE, DONE, a_sealing, an_opening, open_run
from cogni_testing.doubles import START, FrozenClock
from cogni_testing.fixtures import fake_principal

GLOBEX, BOB = TenantId("globex"), PrincipalId("bob")
AUDITOR = fake_principal(id="auditor")
REASON = HumanText("The person asked why the answer was wrong.")
STEPS: tuple[Step, ...] = (
    RetrievalStep("scope-1", ("k1",), {"k2": "diversity"}, stale=1),
    ModelCallStep("reader@1", Usage.absent(TaskClass.CONVERSATIONAL), tool_calls=1),
    ToolCallStep("call-1", "search", "1.0.0", '{"q":"leave"}', 0.5),
    StripStep("handle", "[s9]"),
)


def a_citation(number: int, document: str = "d1") -> Citation:
    """Return the citation `s<number>`."""
    handle = CitationHandle(f"s{number}")
    return Citation(handle, "Leave", f"page {number}", DocumentId(document), ChunkId(f"k{number}"))


class TranscriptStoreContract(ABC):
    """Conversations and records of runs that a run log wrote."""

    @abstractmethod
    async def make_run_log(self) -> RunLogPort:
        """Return the log whose runs this test's transcripts hold."""

    @abstractmethod
    async def make_transcript_store(self, clock: ClockPort) -> TranscriptStorePort:
        """Return the store under test, over the same data as this test's run log."""

    @abstractmethod
    async def events(self) -> Sequence[Mapping[str, object]]:
        """Return the payloads of all events written in this test, in order."""

    async def stores(self) -> tuple[RunLogPort, TranscriptStorePort, FrozenClock]:
        """Return a log, a store over the same data, and the clock that stands at START."""
        clock = FrozenClock()
        return await self.make_run_log(), await self.make_transcript_store(clock), clock

    async def take_turn(
        self,
        log: RunLogPort,
        opening: RunOpening,
        sealing: Sealing | None = None,
        steps: Sequence[Step] = (),
    ) -> None:
        """Open a run, give it its steps and seal it."""
        epoch = ok(await open_run(log, opening)).epoch
        ok(await log.append([LogEntry(opening.run_ref, epoch, 1, [], steps)]))
        ok(await log.seal(opening.run_ref, epoch, Ending(sealing or a_sealing(), [DONE])))

    async def test_a_conversation_is_kept_with_its_start(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1", "c1")))

        assert ok(await store.conversations(ACME, ALICE, 10)) == [
            Conversation(
                ConversationId("c1"),
                ACME,
                ALICE,
                "intranet",
                "How much leave do I get?",
                START,
                START,
                turn_count=1,
            )
        ]

    @pytest.mark.parametrize(
        ("question", "title"),
        [
            ("Leave?\nI am new here.", "Leave?"),
            ("\n  Leave?  \n", "Leave?"),
            ("x" * 80, "x" * 80),
            ("x" * 81, "x" * 79 + "…"),
            ("假" * 500, "假" * 79 + "…"),
        ],
    )
    async def test_its_title_is_the_first_line_of_its_question(
        self, question: str, title: str
    ) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, replace(an_opening(), question=question)))
        ok(await open_run(log, replace(an_opening("r2"), question="Something else")))

        (found,) = ok(await store.conversations(ACME, ALICE, 10))

        assert found.title == title

    async def test_every_new_turn_counts_and_a_repeated_one_does_not(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1", "c1")))
        for run in ("r2", "r3"):
            ok(await open_run(log, an_opening(run, "c1", minutes=5, key="k")))

        (found,) = ok(await store.conversations(ACME, ALICE, 10))

        assert (found.turn_count, found.last_turn_at) == (2, START + timedelta(minutes=5))
        assert found.started_at == START

    async def test_own_conversations_come_newest_first_up_to_the_limit(self) -> None:
        log, store, _ = await self.stores()
        for n in (2, 3, 1):
            ok(await open_run(log, an_opening(f"r{n}", f"c{n}", minutes=n)))
        bob = replace(an_opening("r4", "c4", minutes=4), principal=PrincipalId("bob"))
        theirs = replace(an_opening("r5", "c5", minutes=5), tenant_id=TenantId("globex"))
        ok(await open_run(log, bob))
        ok(await open_run(log, theirs))

        found = ok(await store.conversations(ACME, ALICE, 2))

        assert [str(c.id) for c in found] == ["c3", "c2"]

    async def test_a_conversation_holds_its_sealed_turns_oldest_first(self) -> None:
        log, store, _ = await self.stores()
        await self.take_turn(log, an_opening("r1", "c1"), a_sealing("One.", lineage=["d1", "d2"]))
        await self.take_turn(log, an_opening("r2", "c1", minutes=1), a_sealing("Two.", lineage=[]))
        ok(await open_run(log, an_opening("r3", "c1", minutes=2)))
        await self.take_turn(log, an_opening("r4", "c2", minutes=3))

        found, turns = ok(await store.conversation(ACME, ALICE, ConversationId("c1")))

        question, both = "How much leave do I get?", frozenset({DocumentId("d1"), DocumentId("d2")})
        later = START + timedelta(minutes=1)
        assert found.turn_count == 3
        assert turns == [
            PastTurn(RunRef("r1"), START, question, "One.", "completed", both),
            PastTurn(RunRef("r2"), later, question, "Two.", "completed", frozenset()),
        ]

    async def test_somebody_elses_conversation_looks_like_none(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1", "c1")))
        cases = [(ACME, "bob", "c1"), (TenantId("globex"), "alice", "c1"), (ACME, "alice", "none")]

        found = [
            await store.conversation(tenant, PrincipalId(who), ConversationId(which))
            for tenant, who, which in cases
        ]

        assert len({err(each, NotFoundError).message for each in found}) == 1

    async def test_a_conversation_without_a_turn_for_long_ends_with_its_event(self) -> None:
        log, store, clock = await self.stores()
        await self.take_turn(log, an_opening("r1", "c1"))
        await self.take_turn(log, an_opening("r2", "c1", minutes=1))
        await self.take_turn(log, an_opening("r3", "c2", minutes=2))
        clock.advance(timedelta(days=1))

        ended = ok(await store.end_idle(START + timedelta(minutes=2)))

        newest, idle = ok(await store.conversations(ACME, ALICE, 10))
        assert ended == 1
        assert (newest.ended_at, idle.ended_at) == (None, clock.now())
        assert (await self.events())[-1] == {
            "type": "ConversationEnded",
            "tenant_id": "acme",
            "conversation_ref": "c1",
            "run_ref": "r2",
            "turn_count": 2,
        }

    async def test_a_conversation_ends_once_until_a_turn_opens_it_again(self) -> None:
        log, store, _ = await self.stores()
        later = START + timedelta(days=1)
        await self.take_turn(log, an_opening("r1", "c1"))

        counts = [ok(await store.end_idle(later)), ok(await store.end_idle(later))]
        await self.take_turn(log, an_opening("r2", "c1", minutes=3))
        (open_again,) = ok(await store.conversations(ACME, ALICE, 10))
        counts.append(ok(await store.end_idle(later)))

        assert open_again.ended_at is None
        assert counts == [1, 0, 1]
        types = [event["type"] for event in await self.events()]
        assert types == ["ConversationStarted", "ConversationEnded", "ConversationEnded"]

    async def test_a_conversation_begins_before_its_first_turn_which_names_it(self) -> None:
        log, store, _ = await self.stores()
        empty = Conversation(
            ConversationId("c1"), ACME, ALICE, "intranet", "", START, START, turn_count=0
        )

        for _ in range(2):
            ok(await store.begin(empty))
        for stranger in (replace(empty, owner=BOB), replace(empty, tenant_id=GLOBEX)):
            err(await store.begin(stranger), NotFoundError)
        assert ok(await store.conversation(ACME, ALICE, empty.id)) == (empty, [])
        assert await self.events() == []

        await self.take_turn(log, an_opening("r1", "c1", minutes=1))
        await self.take_turn(log, replace(an_opening("r2", "c1", minutes=2), question="And then?"))
        ok(await store.begin(empty))

        (found,) = ok(await store.conversations(ACME, ALICE, 10))
        assert (found.title, found.turn_count) == ("How much leave do I get?", 2)
        assert [event["type"] for event in await self.events()] == ["ConversationStarted"]

    async def test_a_conversation_that_never_had_a_turn_ends_and_tells_nothing(self) -> None:
        _, store, clock = await self.stores()
        empty = Conversation(
            ConversationId("c1"), ACME, ALICE, "intranet", "", START, START, turn_count=0
        )
        ok(await store.begin(empty))
        clock.advance(timedelta(days=1))

        assert ok(await store.end_idle(START + timedelta(minutes=1))) == 1
        ok(await store.end(ACME, ALICE, empty.id))

        found, _ = ok(await store.conversation(ACME, ALICE, empty.id))
        assert found.ended_at == clock.now()
        assert await self.events() == []

    async def test_a_person_ends_an_own_conversation_once(self) -> None:
        log, store, clock = await self.stores()
        await self.take_turn(log, an_opening("r1", "c1"))
        conversation = ConversationId("c1")

        err(await store.end(ACME, BOB, conversation), NotFoundError)
        err(await store.end(GLOBEX, ALICE, conversation), NotFoundError)
        err(await store.end(ACME, ALICE, ConversationId("c9")), NotFoundError)
        for _ in range(2):
            ok(await store.end(ACME, ALICE, conversation))

        (found,) = ok(await store.conversations(ACME, ALICE, 10))
        assert found.ended_at == clock.now()
        await self.take_turn(log, an_opening("r2", "c2"))
        among = [ConversationId(name) for name in ("c1", "c2", "c9")]
        assert ok(await store.open_ones(ACME, among)) == {ConversationId("c2")}
        assert ok(await store.open_ones(GLOBEX, among)) == frozenset()
        assert ok(await store.open_ones(ACME, [])) == frozenset()
        types = [event["type"] for event in await self.events()]
        assert types == ["ConversationStarted", "ConversationEnded", "ConversationStarted"]

    async def test_what_is_said_of_an_answer_is_kept_and_a_bad_verdict_is_told_once(self) -> None:
        log, store, clock = await self.stores()
        await self.take_turn(log, an_opening("r1", "c1"))
        bad = Review(
            *("v1", ACME, RunRef("r1"), ALICE, Verdict.DOWN),
            *(frozenset({ReviewReason.OUTDATED}), "It is\x00 26 weeks.", clock.now()),
        )
        later = clock.now() + timedelta(minutes=1)
        good = replace(bad, id="v2", verdict=Verdict.UP, reasons=frozenset(), at=later)

        for review in (good, bad, bad):
            ok(await store.keep_review(review))
        err(await store.keep_review(replace(bad, id="v3", run_ref=RunRef("r9"))), NotFoundError)
        err(await store.keep_review(replace(bad, id="v4", tenant_id=GLOBEX)), NotFoundError)

        assert ok(await store.reviews(RunRef("r1"))) == [bad, good]
        assert ok(await store.reviews(RunRef("r9"))) == []
        told = [e for e in await self.events() if e["type"] == "CorrectionSubmitted"]
        expected = {"tenant_id": "acme", "run_ref": "r1", "review_ref": "v1"}
        assert told == [{"type": "CorrectionSubmitted", **expected}]

    async def test_a_handle_stands_for_its_passage_in_the_run_that_issued_it(self) -> None:
        log, store, _ = await self.stores()
        for run in ("r1", "r2"):
            ok(await open_run(log, an_opening(run, "c1")))
        ok(await store.keep_citations(RunRef("r1"), [a_citation(1), a_citation(2)]))
        ok(await store.keep_citations(RunRef("r2"), [a_citation(3)]))

        assert ok(await store.citation(RunRef("r1"), "s2")) == a_citation(2)
        for run, handle in (("r2", "s2"), ("r1", "s3"), ("r1", "S1"), ("r3", "s1")):
            err(await store.citation(RunRef(run), handle), NotFoundError)

    async def test_handles_are_numbered_on_through_a_conversation(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1", "c1")))
        kept = [a_citation(n) for n in range(1, 8)]

        for _ in range(2):
            ok(await store.keep_citations(RunRef("r1"), kept))
        ok(await store.keep_citations(RunRef("r1"), kept[:2]))
        ok(await store.keep_citations(RunRef("r1"), []))

        assert ok(await open_run(log, an_opening("r2", "c1"))).first_handle == 8
        assert ok(await open_run(log, an_opening("r3", "c2"))).first_handle == 1
        (found,) = [c for c in ok(await store.conversations(ACME, ALICE, 9)) if str(c.id) == "c1"]
        assert found.handles_issued == 7

    async def test_runs_of_one_conversation_never_reserve_the_same_number(self) -> None:
        log, store, _ = await self.stores()
        for run, conversation in (("r1", "c1"), ("r2", "c1"), ("r3", "c2")):
            ok(await open_run(log, an_opening(run, conversation)))

        asked = [store.reserve_handles(RunRef(f"r{1 + n % 2}"), 3) for n in range(10)]
        first = [ok(reserved) for reserved in await asyncio.gather(*asked)]

        assert sorted(first) == list(range(1, 30, 3))
        assert ok(await store.reserve_handles(RunRef("r3"), 2)) == 1
        assert ok(await open_run(log, an_opening("r4", "c1"))).first_handle == 31

    async def test_what_is_reserved_and_then_kept_is_counted_once(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1", "c1")))

        first = ok(await store.reserve_handles(RunRef("r1"), 2))
        ok(await store.keep_citations(RunRef("r1"), [a_citation(first), a_citation(first + 1)]))

        assert ok(await store.reserve_handles(RunRef("r1"), 1)) == 3

    async def test_the_citations_of_a_run_come_back_in_the_order_of_their_numbers(self) -> None:
        log, store, _ = await self.stores()
        for run in ("r1", "r2"):
            ok(await open_run(log, an_opening(run, "c1")))
        for numbers in ((10, 2), (1, 2)):
            ok(await store.keep_citations(RunRef("r1"), [a_citation(n) for n in numbers]))

        assert ok(await store.citations(RunRef("r1"))) == [a_citation(n) for n in (1, 2, 10)]
        assert ok(await store.citations(RunRef("r2"))) == []
        assert ok(await store.citations(RunRef("r3"))) == []

    async def test_citations_of_a_run_that_never_was_are_not_kept(self) -> None:
        _, store, _ = await self.stores()

        err(await store.keep_citations(RunRef("r1"), [a_citation(1)]), NotFoundError)
        err(await store.reserve_handles(RunRef("r1"), 1), NotFoundError)

    async def test_a_record_holds_the_run_whole(self) -> None:
        log, store, _ = await self.stores()
        opening = an_opening("r1", "c1", key="k")
        await self.take_turn(log, opening, a_sealing(), STEPS)

        record = ok(await store.read(RunRef("r1"), AUDITOR, REASON))

        assert record.opening == opening
        assert record.sealing == a_sealing()
        assert [step["step"] for step in record.steps] == [
            "Retrieval",
            "ModelCall",
            "ToolCall",
            "Strip",
        ]
        assert record.steps[3] == step_payload(STEPS[3])

    async def test_a_record_of_a_run_under_way_has_no_end(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1")))

        record = ok(await store.read(RunRef("r1"), AUDITOR, REASON))

        assert (record.steps, record.sealing) == ((), None)

    async def test_a_decision_is_added_after_the_run(self) -> None:
        log, store, _ = await self.stores()
        await self.take_turn(log, an_opening("r1"), steps=STEPS[:1])
        step = ConfirmationStep("p1", "accepted", "alice")

        ok(await store.append(RunRef("r1"), step))

        record = ok(await store.read(RunRef("r1"), AUDITOR, REASON))
        assert record.steps[-1] == step_payload(step)
        err(await store.append(RunRef("r2"), step), NotFoundError)

    async def test_every_read_is_recorded_with_who_why_and_when(self) -> None:
        log, store, clock = await self.stores()
        ok(await open_run(log, an_opening("r1")))
        machine = fake_principal(id="exporter", on_behalf_of=AUDITOR)
        ok(await store.read(RunRef("r1"), AUDITOR, REASON))
        clock.advance(timedelta(hours=1))

        record = ok(await store.read(RunRef("r1"), machine, HumanText("Export.")))

        assert record.reads == (
            {
                "by": "auditor",
                "on_behalf_of": None,
                "reason": str(REASON),
                "at": START.isoformat(),
            },
            {
                "by": "exporter",
                "on_behalf_of": "auditor",
                "reason": "Export.",
                "at": clock.now().isoformat(),
            },
        )

    @pytest.mark.parametrize("reason", ["", " \n", "\u200b\u2060"])
    async def test_without_a_reason_nothing_is_read(self, reason: str) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1")))

        err(await store.read(RunRef("r1"), AUDITOR, HumanText(reason)), InvalidArgumentError)

        assert len(ok(await store.read(RunRef("r1"), AUDITOR, REASON)).reads) == 1

    async def test_a_record_of_another_tenant_looks_like_none(self) -> None:
        log, store, _ = await self.stores()
        ok(await open_run(log, an_opening("r1")))
        readers = [fake_principal(tenant="globex"), fake_principal(tenant=None)]

        found = [await store.read(RunRef("r1"), reader, REASON) for reader in readers]
        found.append(await store.read(RunRef("nothing"), AUDITOR, REASON))

        assert len({err(each, NotFoundError).message for each in found}) == 1
        assert len(ok(await store.read(RunRef("r1"), AUDITOR, REASON)).reads) == 1
