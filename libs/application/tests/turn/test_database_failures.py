"""A database that fails anywhere leaves no run without its end, and nothing is raised."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from cogni_application.turn import reaper, seal, streams, take_turn
from cogni_application.turn.take_turn import LEASE, TurnRequest
from cogni_domain.access.principal import Principal
from cogni_engine import Response, is_terminal
from cogni_kernel import Ok, UpstreamError
from cogni_testing import err

if TYPE_CHECKING:
    from tests.conftest import MakeWorld, World

QUESTION = "How long is parental leave?"
ANSWER = Response("It is twenty-six weeks [s1].")
CALLS = (
    *("open", "append", "deltas", "status", "seal", "renew", "stops_requested"),
    *("orphans", "conversation", "keep_citations", "reserve_handles", "citations"),
)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "POLL_S", 0.001)
    monkeypatch.setattr(streams, "LIVE_POLL_S", 0.002)
    monkeypatch.setattr(take_turn, "STOP_POLL_S", 0.002)
    monkeypatch.setattr(reaper, "INTERVAL_S", 0.002)
    monkeypatch.setattr(seal, "ATTEMPTS", 3)


def nth(name: str, number: int, times: int = 1) -> Callable[[str], bool]:
    """Return a failure of the calls `number` to `number + times - 1` of one name."""
    seen = 0

    def is_down(called: str) -> bool:
        nonlocal seen
        if called != name:
            return False
        seen += 1
        return number <= seen < number + times

    return is_down


async def until_all_end(world: "World") -> None:
    """Let the reaper do what is left, in a database that answers again."""
    async with asyncio.timeout(60):
        while world.turns._running:
            await asyncio.sleep(0.005)
        world.is_down = lambda _: False
        world.clock.advance(LEASE * 2)
        await world.reaper.sweep()


def assert_ended_once(world: "World") -> None:
    for row in world.state.runs.values():
        assert row.sealing is not None
        assert [is_terminal(delta) for delta in row.deltas].count(True) == 1
        assert is_terminal(row.deltas[-1])
        shown = "".join(getattr(d, "text", "") for d in row.deltas)
        assert shown == row.sealing.answer == row.sealing.outcome["text"]
        wanted = "failed" if row.sealing.kind == "failed" else "done"
        assert row.deltas[-1].name == wanted


@pytest.mark.parametrize("raises", [False, True], ids=["errs", "raises"])
@pytest.mark.parametrize("name", CALLS)
async def test_one_failing_call_costs_at_most_the_answer(
    make_world: "MakeWorld", name: str, raises: bool
) -> None:
    for number in (1, 2):
        world = await make_world([ANSWER], raises=raises)
        world.is_down = nth(name, number)
        opened = await started(world, world.alice, raises=raises)
        await until_all_end(world)

        assert_ended_once(world)
        if opened:
            assert len(world.state.runs) == 1


@pytest.mark.parametrize("raises", [False, True], ids=["errs", "raises"])
@pytest.mark.parametrize("name", CALLS)
async def test_a_call_that_keeps_failing_leaves_the_run_to_the_reaper(
    make_world: "MakeWorld", name: str, raises: bool
) -> None:
    world = await make_world([ANSWER], raises=raises)
    world.is_down = nth(name, 1, 1_000_000)
    await started(world, world.alice, raises=raises)
    await until_all_end(world)

    assert_ended_once(world)


async def started(world: "World", principal: Principal, *, raises: bool) -> bool:
    """Start a turn; a port that raises in the very call that opens the run is that call's own bug."""
    try:
        opened = await world.turns.start(TurnRequest(QUESTION), principal)
    except OSError:
        assert raises
        return False
    if isinstance(opened, Ok):
        return True
    err(opened, UpstreamError)
    return False


async def test_a_database_that_is_down_while_an_answer_streams_loses_nothing(
    make_world: "MakeWorld",
) -> None:
    answer = Response("It is twenty-six weeks [s1]. " * 200)
    world = await make_world([answer])
    opened = await world.ask(QUESTION)
    reading = asyncio.create_task(world.hear(opened.run_ref))
    for _ in range(10):
        world.is_down = lambda name: name in ("append", "deltas", "status", "seal")
        await asyncio.sleep(0.003)
        world.is_down = lambda _: False
        await asyncio.sleep(0.003)

    deltas = await reading
    assert_ended_once(world)
    assert [n.cursor for n in deltas] == list(range(1, len(deltas) + 1))
    assert world.state.runs[opened.run_ref].sealing.answer == answer.text  # type: ignore[union-attr]


async def test_a_run_that_is_never_answered_for_is_not_held_by_the_process_that_opened_it(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([ANSWER])
    opening = world.log.open

    async def committed_but_not_answered(*args: object) -> object:
        await opening(*args)  # type: ignore[arg-type]
        raise OSError("the connection broke")

    world.log.open = committed_but_not_answered  # type: ignore[method-assign, assignment]
    assert not await started(world, world.alice, raises=True)
    (row,) = world.state.runs.values()
    for _ in range(4):
        world.clock.advance(LEASE / 2)
        await world.turns._keep_leases()
    assert row.sealing is None

    assert await world.reaper.sweep() == 1
    assert_ended_once(world)
