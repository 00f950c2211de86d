"""A person decides once, and what was accepted happens once, or is known not to be known."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.durable import MemoryDurableAdapter
from cogni_adapters.memory.proposals import MemoryProposalStoreAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.run_log import MemoryRunLogAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.transcripts import MemoryTranscriptStoreAdapter
from cogni_application.lanes import LEASE, LaneWorker
from cogni_application.proposals import execution, proposals
from cogni_application.proposals.execution import EXECUTION_LIMIT
from cogni_application.proposals.proposals import NO_LONGER, ProposalService
from cogni_domain.access.directory import Account, Tenant, VerifiedClaims
from cogni_domain.access.grants import Grant, GrantCatalogue
from cogni_domain.access.principal import MembershipState, Principal, PrincipalKind
from cogni_domain.access.resolver import HostToken, PrincipalResolver, TokenVerifier
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.access.tool_offer import ToolCatalogue, ToolContext
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Lane
from cogni_domain.ports.run_log import Ending
from cogni_domain.proposals import DECIDED, EXPIRED, Proposal, ProposalState
from cogni_engine import (
    Arguments,
    Base,
    Effect,
    Parameter,
    ParameterType,
    ToolResult,
    describe,
)
from cogni_kernel import (
    ConflictError,
    Err,
    Error,
    GrantKey,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    NotFoundError,
    NotPermittedError,
    Ok,
    PrincipalId,
    ProposalId,
    Result,
    RunRef,
    TenantId,
    TimeoutError,
    UpstreamError,
)
from cogni_testing import FrozenClock, err, fake_principal, ok
from cogni_testing.contracts.runs import DONE, a_proposal, a_sealing, an_opening

ACME, ALICE, P1 = TenantId("acme"), PrincipalId("alice"), ProposalId("p1")
LEAVE = GrantKey("leave.book")
DOWN = Err(UpstreamError(HumanText("The database does not answer.")))
State = ProposalState


class Killed(BaseException):
    """The process ended here."""


class Host:
    """The system in which leave is booked."""

    def __init__(self) -> None:
        self.booked: list[tuple[str, int]] = []
        self.answer: Callable[[], Any] = lambda: ToolResult.data("Booked.")


class BookLeave(Base):
    context: ToolContext
    definition = describe(
        "book_leave",
        does="Books leave.",
        use_when="the person asks for it",
        do_not_use="otherwise",
        parameters=(Parameter("days", ParameterType.INTEGER, ModelFacingText("How many.")),),
    )
    grant = LEAVE
    effect = Effect.MUTATE
    requires = (Host,)

    async def call(self, args: Arguments) -> ToolResult | Error:
        host = self.context.resource(Host)
        key = self.context.resource(ProposalId)
        host.booked.append((str(key), int(str(args["days"]))))
        answer: ToolResult | Error = host.answer()
        if asyncio.iscoroutine(answer):
            answer = await answer
        return answer


class NoTokens(TokenVerifier):
    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        raise AssertionError("jobs carry no token")


class Watched:
    """A port that yields to others in every call, and that a test can break."""

    def __init__(self, port: object, watch: Callable[[str], Any]) -> None:
        self._port = port
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name == "hold":
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0)
            instead = self._watch(f"before {name}")
            if instead is not None:
                return instead
            result = await found(*args, **kwargs)
            return self._watch(f"after {name}") or result

        return call


class Desk:
    def __init__(self) -> None:
        self.state, self.clock, self.host = MemoryState(), FrozenClock(), Host()
        self.directory = MemoryDirectoryAdapter()
        self.watch: Callable[[str], Any] = lambda _: None
        self.start_process()

    def start_process(self) -> None:
        catalogue = GrantCatalogue([Grant(LEAVE, HumanText("Leave"), HumanText("Book leave."))])
        self.store = self._watched(MemoryProposalStoreAdapter(self.state))
        self.service = ProposalService(
            self.store,
            self._watched(MemoryDurableAdapter(self.state)),
            self._watched(MemoryTranscriptStoreAdapter(self.state, self.clock)),
            PrincipalResolver(NoTokens(), self._watched(self.directory), catalogue),
            ScopePolicy(MemoryAccessRulesAdapter(self.state)),
            self._watched(MemoryDocumentStoreAdapter(self.state)),
            ToolCatalogue(catalogue, [BookLeave]),
            self.clock,
            {Host: self.host},
        )
        queue = self._watched(MemoryQueueAdapter(self.state, self.clock))
        handlers = {
            PROPOSAL_EXECUTE: self.service.execute,
            PROPOSAL_EXPIRE: self.service.expire,
        }
        self.worker = LaneWorker(queue, Lane.CONVERSATIONAL, handlers)

    def _watched(self, port: object) -> Any:
        return Watched(port, lambda called: self.watch(called))  # noqa: PLW0108 - changes

    async def begin(self, proposal: Proposal | None = None) -> None:
        """Let alice be shown a proposal, in a run of hers."""
        wanted = proposal or a_proposal()
        ok(await self.directory.put_tenant(Tenant(ACME, "Acme")))
        for name in ("alice", "bob"):
            account = Account(PrincipalId(name), ACME, PrincipalKind.HUMAN, name.title())
            ok(await self.directory.put_account(account, name))
            known = MembershipState.KNOWN
            ok(await self.directory.set_memberships(ACME, account.id, frozenset(), known))
            ok(await self.directory.set_grants(ACME, f"u:{name}", frozenset({LEAVE})))
        log = MemoryRunLogAdapter(self.state)
        opened = ok(await log.open(an_opening("r1"), "me", self.clock.now(), []))
        ending = Ending(a_sealing(kind="proposed"), [DONE], proposal=wanted)
        ok(await log.seal(RunRef("r1"), opened.epoch, ending))
        ok(await MemoryDurableAdapter(self.state).begin(wanted))

    @property
    def alice(self) -> Principal:
        return fake_principal([str(LEAVE)])

    def standing(self) -> State:
        return self.state.proposals[P1].proposal.state

    def confirmations(self) -> list[object]:
        steps = self.state.runs[RunRef("r1")].steps
        return [s["decision"] for s in steps if s["step"] == "Confirmation"]

    def executed(self) -> int:
        return [type(e).__name__ for e in self.state.events.values()].count("MutationExecuted")


@pytest.fixture
async def desk() -> Desk:
    made = Desk()
    await made.begin()
    return made


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asyncio.sleep

    async def briefly(_: float) -> None:
        await whole(0)

    monkeypatch.setattr(proposals.asyncio, "sleep", briefly)  # type: ignore[attr-defined]


async def test_what_is_accepted_runs_once_with_exactly_what_was_shown(desk: Desk) -> None:
    accepted = ok(await desk.service.accept(P1, desk.alice))
    assert accepted.state is State.ACCEPTED
    assert desk.host.booked == []

    await desk.worker.work_off()

    assert desk.host.booked == [("p1", 3)]
    settled = ok(await desk.service.settled(accepted, timedelta(seconds=1)))
    assert (settled.state, settled.note) == (State.EXECUTED, "Booked.")
    assert desk.confirmations() == ["accepted"]
    assert desk.executed() == 1


async def test_what_is_declined_never_runs(desk: Desk) -> None:
    declined = ok(await desk.service.decline(P1, desk.alice))
    await desk.worker.work_off()

    assert declined.state is desk.standing() is State.DECLINED
    assert desk.host.booked == []
    assert desk.confirmations() == ["declined"]


@pytest.mark.parametrize(
    "somebody",
    [
        fake_principal([str(LEAVE)], id="bob"),
        fake_principal([str(LEAVE)], tenant="globex"),
        fake_principal([str(LEAVE)], tenant=None),
        fake_principal([str(LEAVE)], id="robot", on_behalf_of=fake_principal([str(LEAVE)])),
        fake_principal([str(LEAVE)], id="robot", machine=True),
    ],
    ids=["bob", "other tenant", "no tenant", "delegate", "machine"],
)
async def test_to_anybody_else_a_proposal_is_as_absent_as_one_that_never_was(
    desk: Desk, somebody: Principal
) -> None:
    never = ProposalId("never")

    for again in (False, True):
        for decide in (desk.service.accept, desk.service.decline):
            theirs = await decide(P1, somebody, again=again)
            err(theirs, NotFoundError)
            assert theirs == await decide(never, somebody, again=again)
    assert desk.standing() is State.PENDING


async def test_only_the_first_decision_counts(desk: Desk) -> None:
    ok(await desk.service.accept(P1, desk.alice))

    for late in (
        await desk.service.accept(P1, desk.alice),
        await desk.service.decline(P1, desk.alice),
    ):
        assert err(late, ConflictError).message == DECIDED
    again = ok(await desk.service.accept(P1, desk.alice, again=True))
    assert again.state is State.ACCEPTED
    err(await desk.service.decline(P1, desk.alice, again=True), ConflictError)
    await desk.worker.work_off()
    assert desk.host.booked == [("p1", 3)]


async def test_a_repeated_refusal_is_answered_again(desk: Desk) -> None:
    ok(await desk.service.decline(P1, desk.alice))

    assert ok(await desk.service.decline(P1, desk.alice, again=True)).state is State.DECLINED
    err(await desk.service.accept(P1, desk.alice, again=True), ConflictError)


async def test_what_has_expired_cannot_be_decided(desk: Desk) -> None:
    desk.clock.advance(timedelta(days=1))

    for late in (
        await desk.service.accept(P1, desk.alice),
        await desk.service.decline(P1, desk.alice),
    ):
        assert err(late, ConflictError).message == EXPIRED
    await desk.worker.work_off()
    assert desk.standing() is State.EXPIRED
    assert err(await desk.service.accept(P1, desk.alice), ConflictError).message == EXPIRED
    assert desk.host.booked == []


async def test_who_lacks_the_grant_by_now_cannot_accept(desk: Desk) -> None:
    err(await desk.service.accept(P1, fake_principal()), NotPermittedError)

    assert desk.standing() is State.PENDING


async def test_a_tool_that_is_gone_cannot_be_accepted() -> None:
    desk = Desk()
    await desk.begin(replace(a_proposal(), tool_name="gone"))

    err(await desk.service.accept(P1, desk.alice), NotPermittedError)


@pytest.mark.parametrize("what", ["grant", "tenant", "account", "groups"])
async def test_authority_is_checked_again_when_it_runs(desk: Desk, what: str) -> None:
    ok(await desk.service.accept(P1, desk.alice))
    alice = Account(ALICE, ACME, PrincipalKind.HUMAN, "Alice", active=False)
    change = {
        "grant": desk.directory.set_grants(ACME, "u:alice", frozenset()),
        "tenant": desk.directory.put_tenant(Tenant(ACME, "Acme", enabled=False)),
        "account": desk.directory.put_account(alice, "alice"),
        "groups": desk.directory.set_memberships(ACME, ALICE, frozenset(), MembershipState.UNKNOWN),
    }
    ok(await change.pop(what))
    for other in change.values():
        other.close()

    await desk.worker.work_off()

    assert desk.standing() is State.FAILED
    assert desk.host.booked == []
    if what != "groups":
        assert desk.state.proposals[P1].proposal.note == str(NO_LONGER)
    assert desk.executed() == 0


async def test_what_expired_between_acceptance_and_execution_does_not_run(desk: Desk) -> None:
    ok(await desk.service.accept(P1, desk.alice))
    desk.clock.advance(timedelta(days=1))

    await desk.worker.work_off()

    assert desk.standing() is State.FAILED
    assert desk.host.booked == []


def down_at(name: str) -> Callable[[str], Any]:
    return lambda called: DOWN if called == f"before {name}" else None


async def test_a_database_that_does_not_answer_is_asked_again_before_anything_runs(
    desk: Desk,
) -> None:
    ok(await desk.service.accept(P1, desk.alice))
    for name in ("account_of", "tenant", "memberships", "grants", "corpora", "get", "transition"):
        desk.watch = down_at(name)
        await desk.worker.work_off()
        assert (desk.standing(), desk.host.booked) == (State.ACCEPTED, []), name
        desk.clock.advance(timedelta(hours=1))

    desk.watch = lambda _: None
    await desk.worker.work_off()
    assert desk.host.booked == [("p1", 3)]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (lambda: InvalidArgumentError(HumanText("Too many days.")), State.FAILED),
        (lambda: UpstreamError(HumanText("The host refused.")), State.FAILED),
        (lambda: TimeoutError(HumanText("The host did not answer.")), State.UNKNOWN),
        (lambda: None, State.UNKNOWN),
        (lambda: 1 / 0, State.UNKNOWN),
        (lambda: asyncio.Event().wait(), State.UNKNOWN),
        (lambda: ToolResult.data({"ticket": 4471}), State.EXECUTED),
    ],
    ids=["refused", "error", "timeout", "nothing", "bug", "hangs", "data"],
)
async def test_how_it_ended_is_told_as_far_as_it_is_known(
    desk: Desk, answer: Callable[[], Any], state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "EXECUTION_LIMIT", timedelta(seconds=0.05))
    desk.host.answer = answer
    ok(await desk.service.accept(P1, desk.alice))
    for _ in range(3):
        await desk.worker.work_off()
        desk.clock.advance(timedelta(hours=1))

    assert desk.standing() is state
    assert len(desk.host.booked) == 1
    assert desk.executed() == (state is State.EXECUTED)
    note = desk.state.proposals[P1].proposal.note
    assert note
    assert "ZeroDivisionError" not in note


async def test_arguments_that_do_not_fit_any_more_are_never_run() -> None:
    desk = Desk()
    await desk.begin(replace(a_proposal(), arguments='{"weeks":3}'))
    ok(await desk.service.accept(P1, desk.alice))

    await desk.worker.work_off()

    assert (desk.standing(), desk.host.booked) == (State.FAILED, [])


async def test_a_tool_that_cannot_be_built_has_done_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug of the author")

    monkeypatch.setattr(BookLeave, "__init__", broken)
    ok(await desk.service.accept(P1, desk.alice))

    await desk.worker.work_off()

    assert desk.standing() is State.FAILED
    assert desk.state.proposals[P1].proposal.note == str(execution.BROKEN)


async def test_a_repeated_job_runs_nothing_twice(desk: Desk) -> None:
    accepted = ok(await desk.service.accept(P1, desk.alice))
    durable = MemoryDurableAdapter(desk.state)
    for _ in range(3):
        await desk.worker.work_off()
        ok(await durable.decided(accepted))
        ok(await durable.begin(accepted))
        desk.clock.advance(timedelta(days=2))

    await desk.worker.work_off()
    assert desk.host.booked == [("p1", 3)]
    assert desk.standing() is State.EXECUTED


async def test_an_acceptance_that_nobody_was_told_of_is_brought_on(desk: Desk) -> None:
    desk.watch = lambda called: DOWN if called in ("before decided", "before append") else None
    ok(await desk.service.accept(P1, desk.alice))
    desk.watch = lambda _: None
    await desk.worker.work_off()
    assert desk.host.booked == []

    assert ok(await desk.service.sweep()) == 0
    desk.clock.advance(2 * EXECUTION_LIMIT + timedelta(seconds=1))
    assert ok(await desk.service.sweep()) == 1
    await desk.worker.work_off()

    assert desk.host.booked == [("p1", 3)]


async def test_what_nobody_decided_expires_without_its_timer(desk: Desk) -> None:
    desk.state.jobs.clear()
    desk.clock.advance(timedelta(days=1, seconds=1))

    assert ok(await desk.service.sweep()) == 1
    assert desk.standing() is State.EXPIRED


async def test_a_sweep_in_a_database_that_does_not_answer_says_so(desk: Desk) -> None:
    desk.watch = lambda called: DOWN if called == "before in_state" else None

    assert await desk.service.sweep() == DOWN


async def test_settling_waits_no_longer_than_it_was_told(desk: Desk) -> None:
    accepted = ok(await desk.service.accept(P1, desk.alice))

    assert ok(await desk.service.settled(accepted, timedelta())).state is State.ACCEPTED


async def accept_and_run(desk: Desk) -> None:
    await desk.service.accept(P1, desk.alice)
    await desk.worker.work_off()


async def brought_to_rest(desk: Desk) -> None:
    """Do what processes do that start after a crash."""
    desk.watch = lambda _: None
    desk.start_process()
    for _ in range(3):
        desk.clock.advance(max(LEASE, 2 * EXECUTION_LIMIT) + timedelta(seconds=1))
        ok(await desk.service.sweep())
        await desk.worker.work_off()


async def killed_at(number: int) -> tuple[Desk, str | None]:
    """Accept and run, in a process that ends at its call of this number; return that call, if it came to it."""
    desk, left = Desk(), number
    await desk.begin()

    def kill(called: str) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            raise Killed(called)

    desk.watch = kill
    try:
        await accept_and_run(desk)
    except Killed as point:
        return desk, str(point)
    return desk, None


async def test_a_crash_anywhere_leaves_no_effect_or_one_and_a_state_that_says_which() -> None:
    states = set()
    effects_of = {State.EXECUTED: {1}, State.PENDING: {0}, State.UNKNOWN: {0, 1}}
    for number in count():
        desk, point = await killed_at(number)
        if point is None:
            break
        await brought_to_rest(desk)
        state, effects = desk.standing(), len(desk.host.booked)
        states.add(state)
        assert effects in effects_of[state], point
        assert desk.executed() == (state is State.EXECUTED), point

    assert number > 20
    assert states == set(effects_of)


async def test_a_crash_in_the_middle_of_the_call_is_never_run_again(desk: Desk) -> None:
    def killed() -> None:
        raise Killed

    desk.host.answer = killed
    with pytest.raises(Killed):
        await accept_and_run(desk)
    await brought_to_rest(desk)

    assert desk.standing() is State.UNKNOWN
    assert desk.host.booked == [("p1", 3)]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_races_there_is_one_decision_and_at_most_one_effect(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        desk = Desk()
        await desk.begin()
        if dice.random() < 0.3:
            desk.clock.advance(timedelta(days=1) - timedelta(seconds=1))
        racing: list[Any] = [
            desk.service.accept(P1, desk.alice, again=dice.random() < 0.3)
            for _ in range(dice.randint(2, 16))
        ]
        racing += [desk.service.decline(P1, desk.alice) for _ in range(dice.randint(0, 3))]
        racing += [desk.worker.work_off() for _ in range(dice.randint(0, 3))]
        if dice.random() < 0.3:
            racing.append(desk.directory.set_grants(ACME, "u:alice", frozenset()))
        if dice.random() < 0.3:
            racing.append(later(desk, dice.randint(0, 9)))
        dice.shuffle(racing)
        decided = [r for r in await asyncio.gather(*racing) if isinstance(r, Ok)]
        await desk.worker.work_off()

        effects, state = len(desk.host.booked), desk.standing()
        assert effects == (state is State.EXECUTED) == desk.executed()
        assert len(desk.confirmations()) <= 1
        if state in (State.EXECUTED, State.FAILED):
            assert desk.confirmations() == ["accepted"]
        assert decided or state is State.EXPIRED


async def later(desk: Desk, turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
    desk.clock.advance(timedelta(seconds=2))
