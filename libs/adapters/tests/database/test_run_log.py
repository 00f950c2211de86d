import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.database.engine import Database
from cogni_adapters.database.proposals import DatabaseProposalStoreAdapter
from cogni_adapters.database.run_log import DatabaseRunLogAdapter
from cogni_adapters.database.run_opening import MAX_TITLE, title_of
from cogni_adapters.database.tables.runs import run_deltas, run_sealings, runs
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.run_log import Ending, LogEntry, RunLogPort
from cogni_domain.run_record import StripStep
from cogni_engine import DoneDelta, TokenDelta, is_terminal
from cogni_kernel import Ok, Result, RunRef, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.run_log import RunLogContract
from cogni_testing.contracts.runs import (
    DONE,
    a_proposal,
    a_sealing,
    all_deltas,
    an_opening,
    open_run,
    seal_run,
    tokens,
)

RACES = 100
ROLES = ("owner", "reaper", "stop")


class TestDatabaseRunLog(RunLogContract):
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


@pytest.mark.slow
async def test_three_processes_that_end_the_same_runs_leave_one_terminal_delta_each(
    database_url: str, open_database: Callable[[], Database]
) -> None:
    log = DatabaseRunLogAdapter(open_database())
    for n in range(RACES):
        ok(await open_run(log, an_opening(f"r{n}")))
    script = str(Path(__file__).with_name("ending_process.py"))
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            script,
            database_url,
            role,
            str(RACES),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for role in ROLES
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    said = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))

    won = {role: set(json.loads(out)) for role, (out, _) in zip(ROLES, said, strict=True)}
    assert sorted(run for runs_won in won.values() for run in runs_won) == list(range(RACES))
    for n in range(RACES):
        found = await all_deltas(log, f"r{n}")
        (winner,) = [role for role in ROLES if n in won[role]]
        terminal = found[-1].delta
        assert [is_terminal(d.delta) for d in found].count(True) == 1
        assert isinstance(terminal, DoneDelta)
        assert terminal.outcome["kind"] == winner
        assert [d.cursor for d in found] == list(range(1, len(found) + 1))


async def test_a_seal_that_breaks_half_way_leaves_the_run_open(
    open_database: Callable[[], Database],
) -> None:
    log = DatabaseRunLogAdapter(open_database())
    epochs = {run: ok(await open_run(log, an_opening(run))).epoch for run in ("r1", "r2")}
    ok(
        await log.seal(
            RunRef("r1"), epochs["r1"], Ending(a_sealing(), [DONE], proposal=a_proposal("p1", "r1"))
        )
    )

    again = a_proposal("p1", "r2")
    broken = await log.seal(RunRef("r2"), epochs["r2"], Ending(a_sealing(), [DONE], proposal=again))

    err(broken, UpstreamError)
    assert ok(await log.status(RunRef("r2"))).sealed is False
    assert await all_deltas(log, "r2") == []
    assert ok(await seal_run(log, "r2", epochs["r2"])) is True


async def test_every_sealed_run_has_one_sealing_and_one_terminal_row(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    log = DatabaseRunLogAdapter(database)
    for n in range(10):
        epoch = ok(await open_run(log, an_opening(f"r{n}"))).epoch
        await asyncio.gather(*(seal_run(log, f"r{n}", by) for by in (epoch, None, epoch, None)))

    def count(connection: sa.Connection) -> Result[list[int]]:
        terminal = run_deltas.c.name.in_(["done", "failed"])
        counted = (
            sa.select(sa.func.count()).select_from(run_sealings),
            sa.select(sa.func.count()).select_from(run_deltas).where(terminal),
            sa.select(sa.func.count()).select_from(runs).where(runs.c.sealed),
        )
        return Ok([connection.execute(query).scalar_one() for query in counted])

    assert ok(await database.read(count)) == [10, 10, 10]


async def test_a_thousand_deltas_of_fifty_runs_go_in_at_once(
    open_database: Callable[[], Database],
) -> None:
    log = DatabaseRunLogAdapter(open_database())
    epochs = {f"r{n}": ok(await open_run(log, an_opening(f"r{n}"))).epoch for n in range(50)}
    entries = [
        LogEntry(RunRef(run), epoch, 1, [TokenDelta("x")] * 20, [StripStep("url", "y")])
        for run, epoch in epochs.items()
    ]

    assert ok(await log.append(entries)) == frozenset()

    assert [len(await all_deltas(log, run)) for run in epochs] == [20] * 50


async def test_what_comes_after_a_gap_of_its_own_run_is_not_written_either(
    open_database: Callable[[], Database],
) -> None:
    log = DatabaseRunLogAdapter(open_database())
    epoch = ok(await open_run(log, an_opening())).epoch

    lost = await log.append([tokens("r1", epoch, 2, "gap"), tokens("r1", epoch, 1, "a")])

    assert ok(lost) == {RunRef("r1")}
    assert await all_deltas(log, "r1") == []


@given(st.text())
def test_a_title_is_one_line_of_at_most_eighty_characters(question: str) -> None:
    title = title_of(question)

    assert len(title) <= MAX_TITLE
    assert len(title.splitlines()) <= 1
    assert bool(title) is bool(question.strip())
