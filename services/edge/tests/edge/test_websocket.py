"""Runs over a WebSocket: as JSON and as Turbo Streams, from any cursor, for nobody else."""

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from cogni_edge import server, websocket

if TYPE_CHECKING:
    from tests.edge.conftest import World

TURBO = [Subprotocol("cogni.turbo")]


def address(served: httpx2.AsyncClient, run: object) -> str:
    return f"ws://127.0.0.1:{served.base_url.port}/v1/runs/{run}/socket"


def opened(served: httpx2.AsyncClient, run: object, **more: Any) -> connect:
    return connect(address(served, run), proxy=None, open_timeout=30, **more)


async def heard(socket: ClientConnection) -> list[str]:
    """Return every message until the socket is closed, however."""
    found: list[str] = []
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionClosed):
            while True:
                found.append(str(await socket.recv()))
    return found


async def read(
    world: "World", served: httpx2.AsyncClient, run: object, after: int = 0, **more: Any
) -> list[str]:
    async with opened(served, run, **more) as socket:
        await socket.send(json.dumps({"token": world.token(), "after": after}))
        return await heard(socket)


async def test_a_socket_says_what_the_stream_says_from_any_cursor(
    world: "World", served: httpx2.AsyncClient
) -> None:
    events = await world.stream()
    run = events[0].data["run_ref"]

    for after in range(len(events) + 1):
        messages = [json.loads(message) for message in await read(world, served, run, after)]
        assert messages == [
            {"id": event.id, "event": event.name, "data": event.data} for event in events[after:]
        ]


async def test_a_socket_follows_a_run_that_goes_on_beside_other_readers(
    world: "World", served: httpx2.AsyncClient
) -> None:
    world.model.pause = asyncio.Event()
    asking = asyncio.create_task(world.stream())
    while not world.state.runs:
        await asyncio.sleep(0.01)
    (run,) = world.state.runs
    reading = [asyncio.create_task(read(world, served, run)) for _ in range(2)]
    await asyncio.sleep(0.05)
    world.model.pause.set()

    first, second = await asyncio.gather(*reading)

    assert first == second
    assert [json.loads(m)["id"] for m in first] == [event.id for event in await asking]


async def test_a_socket_that_goes_away_stops_nothing(
    world: "World", served: httpx2.AsyncClient
) -> None:
    world.model.pause = asyncio.Event()
    asking = asyncio.create_task(world.stream())
    while not world.state.runs:
        await asyncio.sleep(0.01)
    (run,) = world.state.runs
    async with opened(served, run) as socket:
        await socket.send(json.dumps({"token": world.token()}))
        await socket.recv()
    world.model.pause.set()

    assert (await asking)[-1].data["outcome"]["kind"] == "completed"  # type: ignore[index]


REFUSALS: list[tuple[str, object, int]] = [
    ("somebody else", {"token": "bob"}, 4404),
    ("of another tenant", {"token": "mallory"}, 4404),
    ("nobody", {"token": ""}, 4401),
    ("a forged token", {"token": "forged"}, 4401),
    ("from the future", {"token": "alice", "after": 999}, 4422),
    ("before the beginning", {"token": "alice", "after": -1}, 4422),
    ("with more than is taken", {"token": "alice", "scope": "all"}, 4422),
    ("without a word of JSON", "hello", 4422),
]


@pytest.mark.parametrize(
    ("hello", "code"), [each[1:] for each in REFUSALS], ids=[each[0] for each in REFUSALS]
)
async def test_a_reader_that_may_not_is_told_and_closed(
    world: "World", served: httpx2.AsyncClient, hello: Any, code: int
) -> None:
    run = (await world.ask())["run_ref"]
    if isinstance(hello, dict) and hello["token"] in ("alice", "bob", "mallory"):
        hello = {**hello, "token": world.token(hello["token"])}

    async with opened(served, run) as socket:
        await socket.send(json.dumps(hello))
        (problem,) = await heard(socket)

    assert socket.close_code == code
    assert json.loads(problem)["status"] == code - websocket.REFUSED


async def test_a_run_that_is_not_there_is_as_one_of_somebody_else(
    world: "World", served: httpx2.AsyncClient
) -> None:
    theirs = (await world.ask(person="bob"))["run_ref"]

    assert await read(world, served, "never") == await read(world, served, theirs)


async def test_a_reader_that_says_nothing_is_given_up(
    world: "World", served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "HELLO_S", 0.05)

    async with opened(served, "r") as socket:
        assert len(await heard(socket)) == 1
    assert socket.close_code == 4422


async def test_a_socket_outlives_the_patience_with_headers(
    world: "World", served: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADERS_S", 0.05)
    async with opened(served, "r") as socket:
        await asyncio.sleep(0.2)
        await socket.ping()
        assert socket.close_code is None


async def test_a_message_that_is_too_long_or_no_text_ends_the_socket(
    world: "World", served: httpx2.AsyncClient
) -> None:
    for message in ("x" * (server.MAX_MESSAGE + 1), b"\x00"):
        async with opened(served, "r") as socket:
            await socket.send(message)
            await heard(socket)
    assert (await served.get("/healthz")).status_code == 200


async def test_a_protocol_that_is_not_spoken_is_refused(
    world: "World", served: httpx2.AsyncClient
) -> None:
    with pytest.raises(InvalidStatus):
        async with opened(served, "r", subprotocols=[Subprotocol("mqtt")]):
            pass


async def test_turbo_streams_hold_the_answer_as_text_and_then_as_it_was_rendered(
    world: "World", served: httpx2.AsyncClient
) -> None:
    world.model.pieces = ["<img src=x onerror=alert(1)> ", "</template><script>x</script> [s1]"]
    events = await world.stream()
    run = events[0].data["run_ref"]
    outcome: Any = events[-1].data["outcome"]

    messages = await read(world, served, run, subprotocols=TURBO)

    assert all(m.startswith("<turbo-stream ") for m in messages)
    assert f'<article id="cogni-{run}"' in messages[0]
    assert "generated" in messages[0]
    assert not any("<img" in m or "<script" in m for m in messages)
    assert messages[-1].count("</template>") == 1
    assert outcome["html"] in messages[-1]


async def test_a_widget_is_a_hidden_element_with_its_payload(
    world: "World", served: httpx2.AsyncClient
) -> None:
    events = await world.stream("Show me a chart")
    run = events[0].data["run_ref"]

    messages = await read(world, served, run, subprotocols=TURBO)

    (widget,) = [m for m in messages if 'data-cogni-kind="CHART"' in m]
    assert " hidden " in widget
    assert "&quot;People&quot;" in widget
