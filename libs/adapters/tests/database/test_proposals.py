import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogni_adapters.database.engine import Database
from cogni_adapters.database.proposals import DatabaseProposalStoreAdapter, insert_proposal
from cogni_adapters.database.run_log import DatabaseRunLogAdapter
from cogni_domain.events import MutationExecuted
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.run_log import RunLogPort
from cogni_domain.proposals import ProposalState
from cogni_kernel import Ok, ProposalId, Result, RunRef
from cogni_testing.assertions import ok
from cogni_testing.contracts.proposal_store import ProposalStoreContract
from cogni_testing.contracts.runs import ACME, a_proposal, an_opening, open_run
from cogni_testing.doubles import START

RACES = 1_000
PENDING, ACCEPTED = ProposalState.PENDING, ProposalState.ACCEPTED
EXECUTING, EXECUTED = ProposalState.EXECUTING, ProposalState.EXECUTED
ASKED: Mapping[str, tuple[ProposalState, ProposalState]] = {
    "accept": (PENDING, ACCEPTED),
    "decline": (PENDING, ProposalState.DECLINED),
    "expire": (PENDING, ProposalState.EXPIRED),
    "execute": (ACCEPTED, EXECUTING),
    "executed": (EXECUTING, EXECUTED),
    "lost": (EXECUTING, ProposalState.UNKNOWN),
}
DECISIONS = ("accept", "decline", "expire")


class TestDatabaseProposalStore(ProposalStoreContract):
    @pytest.fixture(autouse=True)
    def _open(
        self,
        open_database: Callable[[], Database],
        events: Callable[[], Awaitable[Sequence[Mapping[str, object]]]],
    ) -> None:
        self.open_database = open_database
        self.read_events = events

    async def make_run_log(self) -> RunLogPort:
        return DatabaseRunLogAdapter(self.open_database())

    async def make_proposal_store(self) -> ProposalStorePort:
        return DatabaseProposalStoreAdapter(self.open_database())

    async def events(self) -> Sequence[Mapping[str, object]]:
        return await self.read_events()


async def propose_many(database: Database, names: Sequence[str]) -> None:
    """Make proposals of one run."""
    ok(await DatabaseRunLogAdapter(database).open(an_opening(), "turn-1", START, []))

    def insert(connection: sa.Connection) -> Result[None]:
        for name in names:
            insert_proposal(connection, a_proposal(name))
        return Ok(None)

    ok(await database.write(insert))


def ask(database_url: str, names: Sequence[str], step: str) -> Counter[tuple[str, str]]:
    """Ask for a step of every proposal, in a thread with connections of its own; return what was granted."""

    async def ask_for_all() -> Counter[tuple[str, str]]:
        database = Database(database_url)
        store = DatabaseProposalStoreAdapter(database)
        current, wanted = ASKED[step]
        granted: Counter[tuple[str, str]] = Counter()
        for name in names:
            event = MutationExecuted(ACME, RunRef("r1"), "book_leave", ProposalId(name))
            events = [event] if step == "execute" else []
            if ok(await store.transition(ProposalId(name), current, wanted, START, "", events)):
                granted[name, step] += 1
        await database.close()
        return granted

    return asyncio.run(ask_for_all())


@pytest.mark.slow
async def test_a_thousand_races_end_in_one_decision_and_at_most_one_execution(
    database_url: str,
    open_database: Callable[[], Database],
    events: Callable[[], Awaitable[Sequence[Mapping[str, object]]]],
) -> None:
    names = [f"p{n}" for n in range(RACES)]
    await propose_many(open_database(), names)
    steps = ("accept", "decline", "expire", "accept", "execute", "execute")

    def race(step: str) -> Counter[tuple[str, str]]:
        return ask(database_url, names, step)

    with ThreadPoolExecutor(len(steps)) as threads:
        running = [asyncio.wrap_future(threads.submit(race, step)) for step in steps]
        granted = sum(await asyncio.gather(*running), Counter[tuple[str, str]]())
        late = [asyncio.wrap_future(threads.submit(race, "execute")) for _ in range(2)]
        granted += sum(await asyncio.gather(*late), Counter[tuple[str, str]]())

    for name in names:
        assert sum(granted[name, decision] for decision in DECISIONS) == 1
        assert granted[name, "execute"] == granted[name, "accept"]
    executed = [event["proposal_id"] for event in await events()]
    assert sorted(map(str, executed)) == sorted(n for n in names if granted[n, "accept"])


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    """Names that no other example has."""
    return (f"example-{n}" for n in count())


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(ASKED)), st.integers(0, 1), st.integers(0, 30))),
)
def test_any_order_of_steps_at_any_moment_ends_in_one_decision_at_most(
    database_url: str, names: Iterator[str], asked: list[tuple[str, int, int]]
) -> None:
    name = next(names)
    granted = asyncio.run(_follow(database_url, name, asked))

    decided = [step for step, _ in granted if step in DECISIONS]
    assert len(decided) <= 1
    assert [step for step, _ in granted].count("execute") <= (1 if decided == ["accept"] else 0)
    assert all(hours < 24 for step, hours in granted if step == "accept")


async def _follow(
    database_url: str, name: str, asked: list[tuple[str, int, int]]
) -> list[tuple[str, int]]:
    """Ask two processes, turn by turn, for steps so many hours after the start; return what was granted."""
    databases = [Database(database_url), Database(database_url)]
    stores = [DatabaseProposalStoreAdapter(database) for database in databases]
    await open_run(DatabaseRunLogAdapter(databases[0]), an_opening(name, name))
    proposal = a_proposal(name, name)

    def insert(connection: sa.Connection) -> Result[None]:
        insert_proposal(connection, proposal)
        return Ok(None)

    ok(await databases[0].write(insert))
    granted = []
    for step, process, hours in asked:
        current, wanted = ASKED[step]
        moment = START + timedelta(hours=hours)
        if ok(await stores[process].transition(proposal.id, current, wanted, moment)):
            granted.append((step, hours))
    for database in databases:
        await database.close()
    return granted
