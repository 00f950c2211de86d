"""Runs whose owner died, and the races between an owner, a reaper and a person who stops."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cogni_application.turn.reaper import Reaper
from cogni_application.turn.take_turn import LEASE
from cogni_domain.knowledge.citations import Citation, CitationHandle
from cogni_domain.ports.run_log import LogEntry
from cogni_engine import (
    CitationDelta,
    Delta,
    MarkerDelta,
    PhaseDelta,
    Response,
    RunDelta,
    TokenDelta,
    is_terminal,
)
from cogni_kernel import ChunkId, ConversationId, DocumentId, RunRef, TenantId
from cogni_testing import RecordedModel, ok
from cogni_testing.contracts.runs import an_opening

if TYPE_CHECKING:
    from tests.conftest import MakeWorld, World

QUESTION = "How long is parental leave?"
RUN = RunRef("r1")


def a_citation(number: int) -> Citation:
    document = DocumentId(f"d{number}")
    return Citation(CitationHandle(f"s{number}"), "Leave", "p", document, ChunkId(f"c{number}"))


async def orphan(world: "World", run: str = "r1", conversation: str = "c1") -> RunRef:
    """Leave a run behind as a process does that is killed in mid-answer."""
    opening = an_opening(run, conversation)
    opened = ok(await world.log.open(opening, "dead process", world.clock.now() + LEASE, []))
    deltas: list[Delta] = [
        RunDelta(run, conversation),
        PhaseDelta("retrieving", "Searching"),
        CitationDelta("s2", "Leave", "p"),
        TokenDelta("Twenty-six weeks [s2], "),
        MarkerDelta("[[CHART:c1]]", "CHART", {"title": "Weeks"}),
        TokenDelta("see [[CHART:c1]]."),
    ]
    ref = RunRef(run)
    ok(await world.transcripts.keep_citations(ref, [a_citation(1), a_citation(2)]))
    assert not ok(await world.log.append([LogEntry(ref, opened.epoch, 1, deltas, [])]))
    return ref


async def test_an_orphan_is_ended_as_failed_with_what_it_had(make_world: "MakeWorld") -> None:
    world = await make_world()
    run = await orphan(world)

    assert await world.reaper.sweep() == 0
    world.clock.advance(LEASE)
    assert await world.reaper.sweep() == 1
    assert await world.reaper.sweep() == 0

    deltas = [numbered.delta for numbered in await world.hear(run)]
    assert [is_terminal(delta) for delta in deltas] == [False] * 6 + [True]
    outcome: Any = deltas[-1].outcome  # type: ignore[union-attr]
    assert type(deltas[-1]).__name__ == "FailedDelta"
    assert outcome["kind"] == "failed"
    assert outcome["text"] == "Twenty-six weeks [s2], see [[CHART:c1]]."
    assert [c["handle"] for c in outcome["citations"]] == ["s2"]
    assert outcome["markers"] == [
        {"marker": "[[CHART:c1]]", "kind": "CHART", "payload": {"title": "Weeks"}}
    ]
    assert outcome["usage"]["absent"] is True
    sealing = world.state.runs[run].sealing
    assert sealing is not None
    assert sealing.lineage == {DocumentId("d1"), DocumentId("d2")}, "also what was not cited yet"


async def test_an_orphan_also_comes_from_the_turns_before_it(make_world: "MakeWorld") -> None:
    world = await make_world()
    first = await orphan(world, "r1", "c1")
    world.clock.advance(LEASE)
    await world.reaper.sweep()
    second = an_opening("r2", "c1")
    ok(await world.log.open(second, "dead process", world.clock.now(), []))

    assert await world.reaper.sweep() == 1

    assert first == RUN
    sealing = world.state.runs[RunRef("r2")].sealing
    assert sealing is not None
    assert sealing.lineage == {DocumentId("d1"), DocumentId("d2")}
    assert sealing.answer == ""


async def test_one_orphan_that_cannot_be_ended_keeps_no_other_from_it(
    make_world: "MakeWorld",
) -> None:
    world = await make_world()
    for n in range(3):
        await orphan(world, f"r{n}", f"c{n}")
    world.clock.advance(LEASE)
    reading = world.log.deltas

    async def broken(run: RunRef, after: int, limit: int) -> object:
        if run == RunRef("r1"):
            raise ValueError("cannot be read")
        return await reading(run, after, limit)

    reaper = Reaper(_with(world.log, deltas=broken), world.transcripts, world.clock)

    assert await reaper.sweep() == 2
    assert await world.reaper.sweep() == 1


def _with(port: object, **methods: object) -> Any:
    """Return the port with some of its methods replaced."""

    class Changed:
        def __getattr__(self, name: str) -> Any:
            return methods.get(name) or getattr(port, name)

    return Changed()


async def test_a_log_that_goes_on_while_it_is_read_is_not_sealed_over(
    make_world: "MakeWorld",
) -> None:
    world = await make_world()
    run = await orphan(world)
    world.clock.advance(LEASE)
    read = world.log.deltas

    async def late(of: RunRef, after: int, limit: int) -> object:
        found = await read(of, after, limit)
        if not ok(found):
            ok(await world.log.append([LogEntry(of, 1, 7, [TokenDelta(" More.")], [])]))
        return found

    reaper = Reaper(_with(world.log, deltas=late), world.transcripts, world.clock)

    assert await reaper.sweep() == 0
    assert await world.reaper.sweep() == 1
    sealing = world.state.runs[run].sealing
    assert sealing is not None
    assert sealing.answer.endswith(" More.")


async def test_an_owner_that_lives_keeps_its_runs_and_one_it_does_not_drive_is_an_orphan(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")])
    left = an_opening("left behind", "c9")
    ok(await world.log.open(left, world.owner, world.clock.now() + LEASE, []))
    gate = asyncio.Event()

    async def wait(*_: object) -> object:
        await gate.wait()
        raise RuntimeError("enough")

    monkeypatch.setattr(RecordedModel, "complete", wait)
    driven = await world.ask(QUESTION)
    for _ in range(8):
        world.clock.advance(LEASE / 4)
        await world.turns._keep_leases()
        await world.reaper.sweep()

    assert world.state.runs[RunRef("left behind")].sealing is not None
    assert world.state.runs[driven.run_ref].sealing is None
    gate.set()
    assert (await world.hear(driven.run_ref))[-1].delta.name == "failed"


@pytest.mark.parametrize("seed", range(12))
async def test_whoever_comes_first_a_run_ends_once_and_what_was_shown_is_what_is_sealed(
    make_world: "MakeWorld", seed: int
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1]. " * 30)])
    elsewhere = await make_world(beside=world)
    opened = await world.ask(QUESTION)
    for _ in range(seed):
        await asyncio.sleep(0.001)

    world.clock.advance(LEASE * 2)
    await asyncio.gather(
        elsewhere.reaper.sweep(),
        world.reaper.sweep(),
        elsewhere.service.stop(opened.run_ref, world.alice),
        world.service.stop(opened.run_ref, world.alice),
    )
    deltas = await world.hear(opened.run_ref)
    await world.turns.drain()
    await elsewhere.reaper.sweep()

    assert [n.cursor for n in deltas] == list(range(1, len(deltas) + 1))
    assert [is_terminal(n.delta) for n in deltas].count(True) == 1
    assert await world.hear(opened.run_ref) == deltas
    sealing = world.state.runs[opened.run_ref].sealing
    assert sealing is not None
    shown = "".join(n.delta.text for n in deltas if isinstance(n.delta, TokenDelta))
    assert shown == sealing.answer == sealing.outcome["text"]


async def test_who_loses_a_run_in_mid_answer_ends_its_task_and_writes_nothing_more(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def talk(_: object, __: object, ___: object, emitter: Any) -> object:
        started.set()
        try:
            while True:
                emitter.emit_token("word ")
                await asyncio.sleep(0.002)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    monkeypatch.setattr(RecordedModel, "complete", talk)
    world = await make_world()
    opened = await world.ask(QUESTION)
    await started.wait()
    await asyncio.sleep(0.02)

    world.clock.advance(LEASE)
    while await world.reaper.sweep() == 0:
        await asyncio.sleep(0)
    sealed = await world.hear(opened.run_ref)
    async with asyncio.timeout(60):
        await cancelled.wait()
        while world.turns._running:
            await asyncio.sleep(0.005)

    assert await world.hear(opened.run_ref) == sealed
    assert sealed[-1].delta.name == "failed"
    assert world.state.conversations[ConversationId(opened.conversation_id)].tenant_id == TenantId(
        "acme"
    )


async def test_the_watch_goes_on_after_a_database_that_was_down(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogni_application.turn.reaper.INTERVAL_S", 0.001)
    world = await make_world(raises=True)
    run = await orphan(world)
    world.clock.advance(LEASE + timedelta(seconds=1))
    world.is_down = lambda _: True
    watching = asyncio.create_task(world.reaper.watch())
    await asyncio.sleep(0.02)
    world.is_down = lambda _: False

    assert (await world.hear(run))[-1].delta.name == "failed"
    watching.cancel()
    await asyncio.wait([watching])
