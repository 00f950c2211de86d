import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.edge.conftest import Event, World


def text_of(events: "list[Event]") -> str:
    return "".join(str(event.data["text"]) for event in events if event.name == "token")


async def test_resuming_gives_exactly_what_comes_after(world: "World") -> None:
    events = await world.stream()
    run = events[0].data["run_ref"]

    for n in range(len(events) + 1):
        assert await world.resume(run, n) == events[n:]


@pytest.mark.parametrize("cursor", [None, "", "0", " 0 "])
async def test_without_a_cursor_everything_comes_again(world: "World", cursor: str | None) -> None:
    events = await world.stream()

    assert await world.resume(events[0].data["run_ref"], cursor) == events


async def test_a_stream_that_was_read_to_its_end_has_nothing_more(world: "World") -> None:
    events = await world.stream()

    assert await world.resume(events[0].data["run_ref"], events[-1].id) == []


async def test_a_stream_cut_anywhere_and_resumed_is_the_sealed_answer(world: "World") -> None:
    world.model.pieces = list("Mutterschutz: 育儿假 für 20 weeks parental leave 👩‍🔬 عشرون [s1].")
    headers = {"Accept": "text/event-stream"}
    question = {"message": "How much parental leave is there?"}
    whole = await world.call("POST", "/v1/turns", json=question, headers=headers)
    cuts = random.Random(7).sample(range(len(whole.content)), 60)

    for cut in cuts:
        received = whole.content[:cut].rpartition(b"\n\n")[0].decode()
        had = world.read(received)
        rest = await world.resume(_run_of(whole.text), had[-1].id if had else 0)
        assert had + rest == world.read(whole.text)
        assert text_of(had + rest) == rest[-1].data["outcome"]["text"]  # type: ignore[index]


def _run_of(stream: str) -> str:
    return stream.partition('"run_ref":"')[2].partition('"')[0]


@pytest.mark.parametrize("person", ["bob", "mallory"])
async def test_nobody_else_resumes_it(world: "World", person: str) -> None:
    run = (await world.ask())["run_ref"]

    answer = await world.call("GET", f"/v1/runs/{run}/events", person)

    assert answer.status_code == 404
