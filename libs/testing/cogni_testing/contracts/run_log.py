"""What every `RunLogPort` promises."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from cogni_domain.events import MutationProposed, ToolFailed
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.run_log import Ending, LogEntry, NumberedDelta, RunLogPort
from cogni_domain.run_record import StripStep
from cogni_engine import Delta, TokenDelta, is_terminal
from cogni_kernel import (
    ConflictError,
    NotFoundError,
    Ok,
    PrincipalId,
    ProposalId,
    RunRef,
    TenantId,
)
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.runs import (
    ACME,
    ALICE,
    DONE,
    EVERY_DELTA,
    FAILED,
    LEASE_END,
    OWNER,
    a_proposal,
    a_sealing,
    all_deltas,
    an_opening,
    open_run,
    seal_run,
    tokens,
)


class RunLogContract(ABC):
    """Runs of several processes over the same data."""

    @abstractmethod
    async def make_run_log(self) -> RunLogPort:
        """Return a log; a second call in one test returns another over the same data, as a second process has."""

    @abstractmethod
    async def make_proposal_store(self) -> ProposalStorePort:
        """Return the proposals that the logs of this test seal."""

    @abstractmethod
    async def events(self) -> Sequence[Mapping[str, object]]:
        """Return the payloads of all events written in this test, in order."""

    async def test_a_new_run_starts_at_nothing(self) -> None:
        log = await self.make_run_log()

        opened = ok(await open_run(log, an_opening()))
        status = ok(await log.status(RunRef("r1")))

        assert (opened.run_ref, opened.conversation_id) == (RunRef("r1"), "c1")
        assert (opened.first_handle, opened.existed) == (1, False)
        assert (status.tenant_id, status.principal, status.conversation_id) == (ACME, ALICE, "c1")
        assert (status.last_cursor, status.sealed, status.lineage) == (0, False, frozenset())

    async def test_a_run_that_never_was_is_not_found(self) -> None:
        log = await self.make_run_log()

        err(await log.status(RunRef("r1")), NotFoundError)
        assert await all_deltas(log, "r1") == []

    async def test_the_same_key_gives_the_same_run_again(self) -> None:
        log = await self.make_run_log()
        first = ok(await open_run(log, an_opening("r1", "c1", key="k")))

        again = ok(await open_run(log, an_opening("r2", "c2", key="k")))

        assert (again.run_ref, again.conversation_id, again.existed) == (first.run_ref, "c1", True)
        err(await log.status(RunRef("r2")), NotFoundError)
        assert len(await self.events()) == 1

    async def test_a_run_that_existed_is_not_owned_by_who_asks_again(self) -> None:
        log = await self.make_run_log()
        ok(await open_run(log, an_opening("r1", key="k")))

        again = ok(await open_run(log, an_opening("r2", key="k"), "turn-2"))

        assert ok(await log.append([tokens("r1", again.epoch, 1, "mine")])) == {RunRef("r1")}
        assert ok(await seal_run(log, "r1", again.epoch)) is False

    async def test_the_same_key_with_another_request_is_a_conflict(self) -> None:
        log = await self.make_run_log()
        ok(await open_run(log, an_opening("r1", key="k")))
        other = replace(an_opening("r2", key="k"), request_digest="request-2")

        err(await open_run(log, other), ConflictError)
        err(await log.status(RunRef("r2")), NotFoundError)

    async def test_a_key_belongs_to_its_person_and_tenant(self) -> None:
        log = await self.make_run_log()
        bob = replace(an_opening("r2", "c2", key="k"), principal=PrincipalId("bob"))
        theirs = replace(an_opening("r3", "c3", key="k"), tenant_id=TenantId("globex"))
        openings = [an_opening("r1", "c1", key="k"), bob, theirs]

        found = [ok(await open_run(log, opening)) for opening in openings]

        assert [str(o.run_ref) for o in found] == ["r1", "r2", "r3"]

    async def test_runs_without_a_key_never_meet(self) -> None:
        log = await self.make_run_log()

        found = [ok(await open_run(log, an_opening(f"r{n}"))) for n in range(3)]

        assert not any(o.existed for o in found)

    async def test_one_key_asked_at_once_gives_one_run(self) -> None:
        logs = [await self.make_run_log(), await self.make_run_log()]
        asked = [open_run(logs[n % 2], an_opening(f"r{n}", f"c{n}", key="k")) for n in range(12)]

        found = [ok(opened) for opened in await asyncio.gather(*asked)]

        assert len({o.run_ref for o in found}) == 1
        assert [o.existed for o in found].count(False) == 1
        assert len(await self.events()) == 1

    async def test_a_conversation_is_its_owners_alone(self) -> None:
        log = await self.make_run_log()
        ok(await open_run(log, an_opening("r1", "c1")))
        bob = replace(an_opening("r2", "c1"), principal=PrincipalId("bob"))
        theirs = replace(an_opening("r3", "c1"), tenant_id=TenantId("globex"))

        for opening in (bob, theirs):
            err(await open_run(log, opening), NotFoundError)
            err(await log.status(opening.run_ref), NotFoundError)

        assert len(await self.events()) == 1

    async def test_a_conversation_starts_once(self) -> None:
        log = await self.make_run_log()

        for n in range(3):
            ok(await open_run(log, an_opening(f"r{n}", "c1")))

        assert [(e["type"], e["conversation_ref"]) for e in await self.events()] == [
            ("ConversationStarted", "c1")
        ]

    async def test_a_turn_on_another_surface_starts_no_conversation(self) -> None:
        log = await self.make_run_log()
        ok(await open_run(log, an_opening("r1", "c1")))
        elsewhere = replace(an_opening("r2", "c1"), surface_id="phone")

        ok(await open_run(log, elsewhere))

        assert [e["surface_id"] for e in await self.events()] == ["intranet"]

    async def test_events_of_another_kind_are_written_with_every_run(self) -> None:
        log = await self.make_run_log()
        for n in (1, 2):
            opening = an_opening(f"r{n}", "c1")
            event = ToolFailed(ACME, opening.run_ref, "call-1", "search", "Upstream")
            ok(await log.open(opening, OWNER, LEASE_END, [event]))

        assert [e["run_ref"] for e in await self.events()] == ["r1", "r2"]

    async def test_every_delta_comes_back_as_it_was_at_its_place(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch

        lost = ok(await log.append([LogEntry(RunRef("r1"), epoch, 1, EVERY_DELTA, [])]))

        assert lost == frozenset()
        expected = [NumberedDelta(n, delta) for n, delta in enumerate(EVERY_DELTA, 1)]
        assert await all_deltas(log, "r1") == expected
        assert ok(await log.status(RunRef("r1"))).last_cursor == len(EVERY_DELTA)

    async def test_a_reader_resumes_after_its_cursor_as_far_as_it_wants(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await log.append([tokens("r1", epoch, 1, *"abcdef")]))

        found = ok(await log.deltas(RunRef("r1"), 2, 3))

        assert found == [NumberedDelta(n, TokenDelta("abcdef"[n - 1])) for n in (3, 4, 5)]
        assert ok(await log.deltas(RunRef("r1"), 6, 3)) == []

    async def test_many_runs_are_written_together(self) -> None:
        log = await self.make_run_log()
        epochs = {r: ok(await open_run(log, an_opening(r))).epoch for r in ("r1", "r2", "r3")}
        entries = [tokens(r, epochs[r], 1, "a", "b") for r in epochs]

        ok(await log.append([*entries, tokens("r2", epochs["r2"], 3, "c")]))

        assert [len(await all_deltas(log, r)) for r in epochs] == [2, 3, 2]

    async def test_who_lost_a_run_cannot_write_and_hurts_nobody_else(self) -> None:
        log = await self.make_run_log()
        epochs = {r: ok(await open_run(log, an_opening(r))).epoch for r in ("r1", "r2", "r3")}
        ok(await seal_run(log, "r3", None))
        entries = [
            tokens("r1", epochs["r1"] + 1, 1, "stale"),
            tokens("r2", epochs["r2"], 1, "good"),
            LogEntry(RunRef("r3"), epochs["r3"], 2, [TokenDelta("late")], [StripStep("url", "x")]),
            tokens("r4", 1, 1, "never opened"),
        ]

        lost = ok(await log.append(entries))

        assert lost == {RunRef("r1"), RunRef("r3"), RunRef("r4")}
        assert await all_deltas(log, "r1") == []
        assert await all_deltas(log, "r2") == [NumberedDelta(1, TokenDelta("good"))]
        assert await all_deltas(log, "r3") == [NumberedDelta(1, DONE)]

    async def test_a_cursor_is_given_once_and_none_is_left_out(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await log.append([tokens("r1", epoch, 1, "a", "b")]))

        for first in (1, 2, 4):
            lost = ok(await log.append([tokens("r1", epoch, first, "x", "y")]))
            assert lost == {RunRef("r1")}

        assert [n.cursor for n in await all_deltas(log, "r1")] == [1, 2]

    async def test_a_run_ends_with_its_terminal_delta(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await log.append([tokens("r1", epoch, 1, "a")]))

        sealed = ok(await seal_run(log, "r1", epoch))
        status = ok(await log.status(RunRef("r1")))

        assert sealed is True
        assert (status.sealed, status.last_cursor) == (True, 2)
        assert status.lineage == {"d1"}
        assert (await all_deltas(log, "r1"))[-1] == NumberedDelta(2, DONE)

    async def test_a_run_is_sealed_once(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await seal_run(log, "r1", epoch))

        for late in (epoch, None):
            late_lineage = a_sealing("Another.", lineage=["d2"])
            again = await log.seal(RunRef("r1"), late, Ending(late_lineage, [FAILED]))
            assert ok(again) is False

        assert ok(await log.status(RunRef("r1"))).lineage == {"d1"}
        assert await all_deltas(log, "r1") == [NumberedDelta(1, DONE)]

    async def test_the_last_deltas_come_with_the_seal_or_not_at_all(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await log.append([tokens("r1", epoch, 1, "a")]))
        closing: list[Delta] = [TokenDelta("b"), DONE]

        ok(await log.seal(RunRef("r1"), epoch, Ending(a_sealing(), closing)))
        late = await log.seal(RunRef("r1"), None, Ending(a_sealing(), closing))

        assert ok(late) is False
        expected = [TokenDelta("a"), TokenDelta("b"), DONE]
        assert [n.delta for n in await all_deltas(log, "r1")] == expected
        assert ok(await log.status(RunRef("r1"))).last_cursor == 3

    async def test_a_log_that_has_gone_on_is_not_sealed_over(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await log.append([tokens("r1", epoch, 1, "a", "b")]))

        for cursor, sealed in ((1, False), (3, False), (2, True)):
            found = await log.seal(RunRef("r1"), None, Ending(a_sealing(), [FAILED]), cursor)
            assert ok(found) is sealed

        assert (await all_deltas(log, "r1"))[-1] == NumberedDelta(3, FAILED)

    async def test_only_the_current_owner_or_the_reaper_seals(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening())).epoch

        assert ok(await seal_run(log, "r1", epoch + 1)) is False
        assert ok(await seal_run(log, "nothing", None)) is False
        assert ok(await log.status(RunRef("r1"))).sealed is False
        assert ok(await seal_run(log, "r1", None, FAILED)) is True

    async def test_a_proposal_and_its_event_come_with_the_seal(self) -> None:
        log, proposals = await self.make_run_log(), await self.make_proposal_store()
        epoch = ok(await open_run(log, an_opening())).epoch
        event = MutationProposed(ACME, RunRef("r1"), "book_leave", ProposalId("p1"))

        ok(await log.seal(RunRef("r1"), epoch, Ending(a_sealing(), [DONE], [event], a_proposal())))

        assert ok(await proposals.get(ACME, ProposalId("p1"))) == a_proposal()
        assert [e["type"] for e in await self.events()] == [
            "ConversationStarted",
            "MutationProposed",
        ]

    async def test_a_seal_that_comes_late_leaves_nothing(self) -> None:
        log, proposals = await self.make_run_log(), await self.make_proposal_store()
        epoch = ok(await open_run(log, an_opening())).epoch
        ok(await seal_run(log, "r1", None, FAILED))
        event = MutationProposed(ACME, RunRef("r1"), "book_leave", ProposalId("p1"))

        late = await log.seal(
            RunRef("r1"), epoch, Ending(a_sealing(), [DONE], [event], a_proposal())
        )

        assert ok(late) is False
        err(await proposals.get(ACME, ProposalId("p1")), NotFoundError)
        assert [e["type"] for e in await self.events()] == ["ConversationStarted"]

    async def test_whoever_seals_at_once_there_is_one_terminal_delta(self) -> None:
        mine, theirs = await self.make_run_log(), await self.make_run_log()
        for n in range(20):
            run = f"r{n}"
            epoch = ok(await open_run(mine, an_opening(run))).epoch
            attempts = [
                seal_run(mine, run, epoch),
                seal_run(theirs, run, None, FAILED),
                mine.append([tokens(run, epoch, 1, "a", "b")]),
                theirs.request_stop(RunRef(run)),
            ]

            owner, reaper, *_ = await asyncio.gather(*attempts)
            found = await all_deltas(mine, run)

            assert sorted([owner, reaper], key=repr) == [Ok(False), Ok(True)]
            assert [is_terminal(d.delta) for d in found].count(True) == 1
            assert is_terminal(found[-1].delta)
            assert [d.cursor for d in found] == list(range(1, len(found) + 1))

    async def test_a_run_is_an_orphan_when_its_lease_has_run_out(self) -> None:
        log = await self.make_run_log()
        ok(await open_run(log, an_opening("r1"), "turn-1"))
        ok(await open_run(log, an_opening("r2"), "turn-2"))
        ok(await open_run(log, an_opening("r3"), "turn-2"))
        ok(await seal_run(log, "r3", None))

        assert ok(await log.orphans(LEASE_END - timedelta(seconds=1))) == []
        assert set(ok(await log.orphans(LEASE_END))) == {RunRef("r1"), RunRef("r2")}

    async def test_an_owner_holds_on_those_of_its_runs_that_it_names(self) -> None:
        log = await self.make_run_log()
        for run, owner in (("r1", "turn-1"), ("r2", "turn-2"), ("r3", "turn-1")):
            ok(await open_run(log, an_opening(run), owner))
        until = LEASE_END + timedelta(seconds=30)

        ok(await log.renew("turn-1", [RunRef("r1"), RunRef("r2"), RunRef("r9")], until))
        ok(await log.renew("turn-1", [], until + timedelta(hours=1)))

        assert set(ok(await log.orphans(LEASE_END))) == {RunRef("r2"), RunRef("r3")}
        assert RunRef("r1") in ok(await log.orphans(until))

    async def test_a_stop_reaches_the_owner_wherever_it_was_asked_for(self) -> None:
        mine, theirs = await self.make_run_log(), await self.make_run_log()
        ok(await open_run(mine, an_opening("r1"), "turn-1"))
        ok(await open_run(mine, an_opening("r2"), "turn-1"))

        for _ in range(2):
            ok(await theirs.request_stop(RunRef("r1")))

        assert ok(await mine.stops_requested("turn-1")) == {RunRef("r1")}
        assert ok(await mine.stops_requested("turn-2")) == frozenset()

    async def test_a_stop_ends_with_its_run(self) -> None:
        log = await self.make_run_log()
        epoch = ok(await open_run(log, an_opening("r1"))).epoch
        ok(await log.request_stop(RunRef("r1")))
        ok(await seal_run(log, "r1", epoch))

        ok(await log.request_stop(RunRef("r1")))

        assert ok(await log.stops_requested(OWNER)) == frozenset()
