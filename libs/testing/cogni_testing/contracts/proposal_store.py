"""What every `ProposalStorePort` promises."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from cogni_domain.events import MutationExecuted
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.run_log import Ending, RunLogPort
from cogni_domain.proposals import Proposal, ProposalState, may_follow
from cogni_kernel import NotFoundError, ProposalId, Result, RunRef, TenantId
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.runs import ACME, DONE, a_proposal, a_sealing, an_opening, open_run
from cogni_testing.doubles import START

P1 = ProposalId("p1")
STATES = tuple(ProposalState)
DECISIONS = (ProposalState.ACCEPTED, ProposalState.DECLINED, ProposalState.EXPIRED)
PATHS: Mapping[ProposalState, tuple[ProposalState, ...]] = {
    ProposalState.PENDING: (),
    ProposalState.ACCEPTED: (ProposalState.ACCEPTED,),
    ProposalState.DECLINED: (ProposalState.DECLINED,),
    ProposalState.EXPIRED: (ProposalState.EXPIRED,),
    ProposalState.EXECUTING: (ProposalState.ACCEPTED, ProposalState.EXECUTING),
    ProposalState.EXECUTED: (
        ProposalState.ACCEPTED,
        ProposalState.EXECUTING,
        ProposalState.EXECUTED,
    ),
    ProposalState.FAILED: (ProposalState.ACCEPTED, ProposalState.FAILED),
    ProposalState.UNKNOWN: (
        ProposalState.ACCEPTED,
        ProposalState.EXECUTING,
        ProposalState.UNKNOWN,
    ),
}


async def propose(log: RunLogPort, proposal: Proposal) -> None:
    """Seal a run that ends with this proposal."""
    run = str(proposal.run_ref)
    epoch = ok(await open_run(log, replace(an_opening(run), tenant_id=ACME))).epoch
    ok(
        await log.seal(
            RunRef(run), epoch, Ending(a_sealing(kind="proposed"), [DONE], proposal=proposal)
        )
    )


async def go(
    store: ProposalStorePort,
    current: ProposalState,
    wanted: ProposalState,
    *,
    minutes: int = 1,
    note: str = "",
) -> Result[bool]:
    """Ask for one step of `p1`, so many minutes after START."""
    event = MutationExecuted(ACME, RunRef("r1"), "book_leave", P1)
    now = START + timedelta(minutes=minutes)
    return await store.transition(P1, current, wanted, now, note, [event])


class ProposalStoreContract(ABC):
    """Proposals that sealed runs made."""

    @abstractmethod
    async def make_run_log(self) -> RunLogPort:
        """Return the log whose seals make this test's proposals."""

    @abstractmethod
    async def make_proposal_store(self) -> ProposalStorePort:
        """Return a store; a second call in one test returns another over the same data."""

    @abstractmethod
    async def events(self) -> Sequence[Mapping[str, object]]:
        """Return the payloads of all events written in this test, in order."""

    async def proposed(self, *path: ProposalState) -> ProposalStorePort:
        """Return a store that holds `a_proposal()`, taken along a path of states."""
        store = await self.make_proposal_store()
        await propose(await self.make_run_log(), a_proposal())
        for current, wanted in zip((ProposalState.PENDING, *path), path, strict=False):
            assert ok(await store.transition(P1, current, wanted, START))
        return store

    async def state(self, store: ProposalStorePort) -> ProposalState:
        """Return where `p1` stands."""
        return ok(await store.get(ACME, P1)).state

    async def test_a_proposal_comes_back_as_it_was_sealed(self) -> None:
        store = await self.proposed()

        assert ok(await store.get(ACME, P1)) == a_proposal()

    async def test_a_proposal_of_another_tenant_looks_like_none(self) -> None:
        store = await self.proposed()

        found = [
            await store.get(TenantId("globex"), P1),
            await store.get(ACME, ProposalId("nothing")),
        ]

        assert len({err(each, NotFoundError).message for each in found}) == 1

    @pytest.mark.parametrize("state", STATES)
    async def test_every_step_of_the_state_machine_is_taken_and_no_other(
        self, state: ProposalState
    ) -> None:
        store = await self.proposed(*PATHS[state])
        for current, wanted in product(STATES, STATES):
            if not may_follow(current, wanted):
                with pytest.raises(ValueError, match=wanted.value):
                    await go(store, current, wanted)
            elif current is not state:
                assert ok(await go(store, current, wanted)) is False

        assert await self.state(store) is state
        for wanted in filter(lambda w: may_follow(state, w), STATES):
            assert ok(await go(store, state, wanted))
            assert await self.state(store) is wanted
            break

    async def test_a_proposal_that_never_was_takes_no_step(self) -> None:
        store = await self.make_proposal_store()

        assert ok(await go(store, ProposalState.PENDING, ProposalState.ACCEPTED)) is False

    @pytest.mark.parametrize(("minutes", "accepted"), [(24 * 60 - 1, True), (24 * 60, False)])
    async def test_a_yes_counts_before_the_expiry_alone(self, minutes: int, accepted: bool) -> None:  # noqa: FBT001
        store = await self.proposed()

        found = await go(store, ProposalState.PENDING, ProposalState.ACCEPTED, minutes=minutes)

        assert ok(found) is accepted
        assert (await self.state(store) is ProposalState.ACCEPTED) is accepted

    async def test_after_the_expiry_it_can_still_be_seen_to_expire(self) -> None:
        store = await self.proposed()

        found = await go(store, ProposalState.PENDING, ProposalState.EXPIRED, minutes=24 * 60)

        assert ok(found) is True

    async def test_a_note_stays_until_another_comes(self) -> None:
        store = await self.proposed(ProposalState.ACCEPTED)
        executing, executed = ProposalState.EXECUTING, ProposalState.EXECUTED
        ok(await go(store, ProposalState.ACCEPTED, executing, note="Under way."))

        ok(await go(store, executing, ProposalState.UNKNOWN))
        before = ok(await store.get(ACME, P1)).note
        ok(await go(store, ProposalState.UNKNOWN, executed, note="Booked."))

        assert (before, ok(await store.get(ACME, P1)).note) == ("Under way.", "Booked.")

    async def test_events_come_with_the_step_and_only_with_it(self) -> None:
        store = await self.proposed(ProposalState.ACCEPTED)
        before = len(await self.events())

        ok(await go(store, ProposalState.PENDING, ProposalState.DECLINED))
        assert len(await self.events()) == before
        ok(await go(store, ProposalState.ACCEPTED, ProposalState.EXECUTING))

        assert [event["type"] for event in (await self.events())[before:]] == ["MutationExecuted"]

    @pytest.mark.parametrize("first", DECISIONS)
    async def test_of_decisions_at_once_one_counts(self, first: ProposalState) -> None:
        mine = await self.proposed()
        theirs = await self.make_proposal_store()
        wanted = (first, *(d for d in DECISIONS if d is not first)) * 2

        found = await asyncio.gather(
            *(
                go(store, ProposalState.PENDING, decision)
                for store, decision in zip((mine, theirs) * 3, wanted, strict=True)
            )
        )

        (winner,) = [d for d, taken in zip(wanted, map(ok, found), strict=True) if taken]
        assert await self.state(theirs) is winner

    async def test_of_executions_at_once_one_begins(self) -> None:
        mine = await self.proposed(ProposalState.ACCEPTED)
        theirs = await self.make_proposal_store()

        found = await asyncio.gather(
            *(
                go(store, ProposalState.ACCEPTED, ProposalState.EXECUTING)
                for store in (mine, theirs) * 4
            )
        )

        assert list(map(ok, found)).count(True) == 1

    async def test_the_sweeper_finds_what_has_stood_still(self) -> None:
        store = await self.make_proposal_store()
        log = await self.make_run_log()
        for n in (1, 2, 3):
            await propose(log, a_proposal(f"p{n}", f"r{n}"))
        moment = START + timedelta(minutes=10)
        for n in (1, 2):
            ok(
                await store.transition(
                    ProposalId(f"p{n}"),
                    ProposalState.PENDING,
                    ProposalState.ACCEPTED,
                    START + timedelta(minutes=5 * n),
                )
            )

        found = ok(await store.in_state(ProposalState.ACCEPTED, moment))

        assert [str(p.id) for p in found] == ["p1"]
        after = moment + timedelta(seconds=1)
        assert len(ok(await store.in_state(ProposalState.ACCEPTED, after))) == 2
        assert [str(p.id) for p in ok(await store.in_state(ProposalState.PENDING, after))] == ["p3"]
