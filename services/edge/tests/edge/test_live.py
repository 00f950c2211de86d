import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from cogni_edge import requests, server, streaming
from cogni_kernel import ConflictError, InvalidArgumentError
from cogni_testing import err, ok

if TYPE_CHECKING:
    from tests.edge.conftest import Event, World

QUESTION = {"message": "How much parental leave is there?"}
SAID = "Everybody gets "


@contextlib.asynccontextmanager
async def paused(world: "World", served: httpx2.AsyncClient) -> AsyncIterator["Reading"]:
    """Begin an answer that stops after its first piece."""
    world.model.pause = asyncio.Event()
    headers = world.headers() | {"Accept": "text/event-stream"}
    async with served.stream("POST", "/v1/turns", json=QUESTION, headers=headers) as response:
        reading = Reading(world, response)
        while not any(event.name == "token" for event in reading.events):
            await reading.more()
        yield reading


class Reading:
    """A stream, read as far as somebody asked."""

    def __init__(self, world: "World", response: httpx2.Response) -> None:
        self._world, self._received = world, ""
        self._text = response.aiter_text()

    @property
    def events(self) -> "list[Event]":
        return self._world.read(self._received.rpartition("\n\n")[0])

    @property
    def run(self) -> object:
        return self.events[0].data["run_ref"]

    async def more(self) -> None:
        self._received += await asyncio.wait_for(anext(self._text), 60)

    async def to_the_end(self) -> "list[Event]":
        with contextlib.suppress(StopAsyncIteration):
            while True:
                await self.more()
        return self.events


def outcome(events: "list[Event]") -> Any:
    return events[-1].data["outcome"]


async def test_a_stopped_run_ends_halted_with_what_it_had(
    world: "World", served: httpx2.AsyncClient
) -> None:
    async with paused(world, served) as reading:
        stop = f"/v1/runs/{reading.run}/stop"
        first = await served.post(stop, headers=world.headers())
        again = await served.post(stop, headers=world.headers(idempotency_key="k"))
        events = await reading.to_the_end()
    late = await served.post(stop, headers=world.headers())

    assert [first.status_code, again.status_code, late.status_code] == [202, 202, 202]
    assert first.content == b""
    assert (events[-1].name, outcome(events)["kind"]) == ("done", "halted")
    assert outcome(events)["text"].strip() == SAID.strip()
    assert outcome(events)["message"]
    assert await world.resume(outcome(events)["run_ref"]) == events


async def test_nobody_else_stops_it(world: "World", served: httpx2.AsyncClient) -> None:
    async with paused(world, served) as reading:
        for person in ("bob", "mallory"):
            headers = world.headers(person)
            answer = await served.post(f"/v1/runs/{reading.run}/stop", headers=headers)
            assert answer.status_code == 404
        assert world.model.pause is not None
        world.model.pause.set()
        assert outcome(await reading.to_the_end())["kind"] == "completed"


async def test_a_reader_who_goes_away_stops_nothing(
    world: "World", served: httpx2.AsyncClient
) -> None:
    async with paused(world, served) as reading:
        had = reading.events
    assert world.model.pause is not None
    world.model.pause.set()

    rest = await world.resume(had[0].data["run_ref"], had[-1].id)

    assert [event.id for event in had + rest] == list(range(1, len(had + rest) + 1))
    assert outcome(rest)["text"] == "Everybody gets 20 weeks of parental leave [s1]."


async def test_who_waits_for_the_outcome_and_goes_away_stops_nothing(
    world: "World", served: httpx2.AsyncClient
) -> None:
    world.model.pause = asyncio.Event()
    headers = world.headers(idempotency_key="k1")
    going = asyncio.create_task(served.post("/v1/turns", json=QUESTION, headers=headers))
    while not world.model.asked:
        await asyncio.sleep(0.01)
    going.cancel()
    await asyncio.wait([going])
    world.model.pause.set()

    answer = await served.post("/v1/turns", json=QUESTION, headers=headers)

    assert answer.json()["kind"] == "completed"
    assert world.model.asked == 1


async def test_a_second_reader_sees_the_same_while_it_goes_on(
    world: "World", served: httpx2.AsyncClient
) -> None:
    async with paused(world, served) as first:
        events = f"/v1/runs/{first.run}/events"
        async with served.stream("GET", events, headers=world.headers()) as response:
            second = Reading(world, response)
            await second.more()
            assert world.model.pause is not None
            world.model.pause.set()
            assert await second.to_the_end() == await first.to_the_end()


async def test_a_silent_stream_is_kept_open(
    world: "World", served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_S", 0.02)
    async with paused(world, served) as reading:
        had = len(reading.events)
        for _ in range(3):
            await reading.more()
        assert len(reading.events) == had


async def test_when_the_process_ends_a_stream_still_gets_its_last_word(
    world: "World", served: httpx2.AsyncClient
) -> None:
    async with paused(world, served) as reading:
        assert world.server is not None
        world.server.should_exit = True
        events = await reading.to_the_end()

    assert (events[-1].name, outcome(events)["kind"]) == ("done", "halted")


async def raw(served: httpx2.AsyncClient, *pieces: bytes, pause: float = 0) -> bytes:
    """Send bytes as they are; return all that comes back until the other side closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.base_url.port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    return answer


async def test_a_client_that_says_nothing_is_given_up(
    served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADERS_S", 0.1)

    assert (await raw(served)).startswith(b"HTTP/1.1 408 ")


async def test_a_client_that_dribbles_its_headers_is_given_up(
    served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADERS_S", 0.5)
    dribble = [b"GET /healthz HTTP/1.1\r\n", b"X-1: 1\r\n", b"X-2: 1\r\n"]

    assert (await raw(served, *dribble, pause=0.03)).startswith(b"HTTP/1.1 408 ")


async def test_a_second_request_may_not_be_dribbled_either(
    served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADERS_S", 0.5)
    first = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    answer = await raw(served, first, b"GET /hea", b"lthz", pause=0.06)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answer


async def test_a_body_that_does_not_come_is_given_up(
    world: "World", served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "BODY_S", 0.1)
    head = f"POST /v1/turns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.token()}\r\n"

    answer = await raw(served, f"{head}Content-Length: 50\r\nConnection: close\r\n\r\n{{".encode())

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in answer


async def test_a_request_that_is_cut_off_is_nobodys_bug(
    world: "World", served: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", served.base_url.port)
    head = f"POST /v1/turns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.token()}\r\n"
    writer.write(f"{head}Content-Length: 50\r\n\r\n{{".encode())
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.transport.abort()
    await asyncio.sleep(0.05)

    assert not caplog.records
    assert not world.state.runs


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /healthz\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 400_000,
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX y: 1\r\n\r\n",
        b"POST /v1/turns HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"POST /v1/turns HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/turns HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_what_is_no_request_harms_nobody(
    served: httpx2.AsyncClient, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.base_url.port)
    writer.write(sent)

    answer = await asyncio.wait_for(reader.read(12), 60)

    writer.close()
    assert answer in (b"HTTP/1.1 400", b"HTTP/1.1 401", b"HTTP/1.1 431")
    assert (await served.get("/healthz")).status_code == 200
    assert not caplog.records


async def test_a_body_that_goes_wrong_under_an_answer_ends_it(
    world: "World", served: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"GET /v1/runs/{(await world.ask())['run_ref']}/events HTTP/1.1\r\nHost: x\r\n"
    token = f"Authorization: Bearer {world.token()}\r\n"
    chunked = "Transfer-Encoding: chunked\r\n\r\n"

    answer = await raw(served, f"{head}{token}{chunked}".encode(), b"zz\r\n", pause=0.05)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert not caplog.records


async def test_many_idle_connections_keep_nobody_out(served: httpx2.AsyncClient) -> None:
    port = served.base_url.port
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]

    assert (await served.get("/healthz", timeout=60)).status_code == 200

    for _, writer in idle:
        writer.close()


def test_a_port_in_use_is_named() -> None:
    with ok(server.listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = err(server.listen("127.0.0.1", port), ConflictError)

    assert f"Port {port} on 127.0.0.1 is in use" in str(refused.message)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7", "a..b", "x" * 300])
def test_a_host_that_is_not_here_is_named(host: str) -> None:
    refused = err(server.listen(host, 0), InvalidArgumentError)

    assert f"Cannot listen on {host}" in str(refused.message)


def test_a_reader_that_takes_nothing_is_cut_off_by_the_system() -> None:
    with ok(server.listen("127.0.0.1", 0)) as listening:
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000
