import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

import httpx2
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


CUTS = 40


async def test_a_line_cut_at_any_byte_again_and_again_loses_and_doubles_nothing(
    world: "World", served: httpx2.AsyncClient
) -> None:
    world.model.pieces = (
        list("Mutterschutz: 育儿假 für 20 weeks parental leave 👩‍🔬 عشرون [s1]. ") * 3
    )
    chance, cuts = random.Random(11), 0
    while cuts < CUTS:
        had: list[Event] = []
        part = await _cut(world, served, None, 0, chance.randrange(600))
        while not (had := had + _whole(world, part)) or had[-1].name != "done":
            cuts += 1
            run = had[0].data["run_ref"] if had else next(reversed(world.state.runs))
            after = had[-1].id if had else 0
            part = await _cut(
                world, served, run, after, chance.randrange(chance.choice((100, 1000, 20_000)))
            )

        sealed = await world.resume(had[0].data["run_ref"])
        assert had == sealed
        answer = sealed[-1].data["outcome"]["text"]  # type: ignore[index]
        assert text_of(had).encode() == answer.encode()


async def _cut(
    world: "World", served: httpx2.AsyncClient, run: object, after: int, size: int
) -> bytes:
    """Ask, or resume; return what came before the line was cut after so many bytes of the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.base_url.port)
    body = b'{"message":"How much parental leave is there?"}'
    asked = f"GET /v1/runs/{run}/events" if run else "POST /v1/turns"
    head = f"{asked} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.token()}\r\n"
    more = f"Last-Event-ID: {after}\r\n" if run else f"Content-Length: {len(body)}\r\n"
    accept = "Accept: text/event-stream\r\n\r\n"
    writer.write(f"{head}{more}{accept}".encode() + (b"" if run else body))
    await reader.readuntil(b"\r\n\r\n")
    found = b""
    with contextlib.suppress(asyncio.IncompleteReadError):
        while len(found) < size and (left := int(await reader.readuntil(b"\r\n"), 16)):
            found += await reader.readexactly(left)
            await reader.readexactly(2)
    writer.transport.abort()
    return found[:size]


def _whole(world: "World", part: bytes) -> "list[Event]":
    return world.read(part.rpartition(b"\n\n")[0].decode())


def _run_of(stream: str) -> str:
    return stream.partition('"run_ref":"')[2].partition('"')[0]


@pytest.mark.parametrize("person", ["bob", "mallory"])
async def test_nobody_else_resumes_it(world: "World", person: str) -> None:
    run = (await world.ask())["run_ref"]

    answer = await world.call("GET", f"/v1/runs/{run}/events", person)

    assert answer.status_code == 404
