"""Runs over a WebSocket: the same deltas from the same log, as JSON or as Turbo Streams."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.websockets import WebSocket, WebSocketDisconnect

from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.ports.run_log import NumberedDelta
from cogni_edge.answering import Answering
from cogni_edge.problems import problem
from cogni_edge.requests import MAX_CURSOR, MAX_TOKEN, language_in, token_of, view_of
from cogni_edge.streaming import Deltas, resumed
from cogni_edge.turbo import turbo_stream
from cogni_engine import is_terminal
from cogni_kernel import Err, HumanText, InvalidArgumentError, Ok, Result, RunRef
from cogni_surfaces import SurfaceRegistry, View, json_line, server_event

HELLO_S = 10.0
REFUSED = 4000
"""A refusal's close code is this and the HTTP status: 4404 for what is not there."""

Encode: TypeAlias = Callable[[RunRef, NumberedDelta, View], str]


class Hello(BaseModel):
    """The first message of a reader: who asks, since a token never goes into an address, and from where."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=MAX_TOKEN)
    after: int = Field(default=0, ge=0, le=MAX_CURSOR)
    surface_id: str = Field(default="chat", max_length=100)


def event_message(run: RunRef, numbered: NumberedDelta, view: View) -> str:  # noqa: ARG001 - one of ENCODINGS
    """Return a delta as one JSON message: `{id, event, data}`, as the events of a stream have them."""
    event = server_event(numbered, view)
    return f'{{"id":{event.id},"event":{json.dumps(event.event)},"data":{event.data}}}'


ENCODINGS: dict[str, Encode] = {"cogni.events": event_message, "cogni.turbo": turbo_stream}
"""By subprotocol; the first where a reader names none."""


@dataclass(frozen=True, slots=True)
class SocketRoutes:
    """Follows runs for whoever the first message proves.

    Source:
        COGNI.BUILD spec, package channel, "WebSocketAdapter" and "TurboStreamAdapter"; DESIGN D5.
    """

    answering: Answering
    registry: SurfaceRegistry
    transcripts: TranscriptService

    async def follow(self, socket: WebSocket) -> None:
        """Send what comes after a cursor, up to the terminal delta; a reader that goes away stops nothing."""
        offered = socket.scope.get("subprotocols") or [next(iter(ENCODINGS))]
        protocol = next((name for name in offered if name in ENCODINGS), None)
        if protocol is None:
            await socket.close(1002)
            return
        await socket.accept(protocol if socket.scope.get("subprotocols") else None)
        try:
            await self._serve(socket, ENCODINGS[protocol])
        except WebSocketDisconnect:
            return

    async def _serve(self, socket: WebSocket, encode: Encode) -> None:
        run = RunRef(socket.path_params["run_ref"])
        hello = await _hello(socket)
        found: Result[tuple[Deltas, View]] = (
            hello if isinstance(hello, Err) else await self._found(run, hello.value, socket)
        )
        if isinstance(found, Err):
            response = problem(found.error, language_in(_request(socket, "")))
            await socket.send_text(bytes(response.body).decode())
            await socket.close(REFUSED + response.status_code)
            return
        deltas, view = found.value
        writing = asyncio.create_task(
            _write(socket, deltas, lambda numbered: encode(run, numbered, view))
        )
        leaving = asyncio.create_task(_left(socket))
        try:
            await asyncio.wait([writing, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            writing.cancel()
            leaving.cancel()
            ended = await asyncio.gather(writing, leaving, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def _found(
        self, run: RunRef, hello: Hello, socket: WebSocket
    ) -> Result[tuple[Deltas, View]]:
        request = _request(socket, hello.token)

        async def opened(principal: Principal) -> Result[tuple[Deltas, View]]:
            surface = await self.registry.open(principal.tenant_id, hello.surface_id)
            if isinstance(surface, Err):
                return surface
            view = view_of(request, surface.value)
            deltas = await resumed(self.transcripts, run, principal, hello.after, view)
            return deltas.map(lambda found: (found, view))

        return await self.answering.result(token_of(request), opened)


async def _write(socket: WebSocket, deltas: Deltas, encode: Callable[[NumberedDelta], str]) -> None:
    async for numbered in deltas:
        if is_terminal(numbered.delta):  # rendering a hostile answer takes a second
            message = await asyncio.to_thread(encode, numbered)
        else:
            message = encode(numbered)
        if message:
            await socket.send_text(message)
    await socket.close()


async def _left(socket: WebSocket) -> None:
    """Wait until the reader goes away; what it says meanwhile is nothing to us."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _hello(socket: WebSocket) -> Result[Hello]:
    try:
        async with asyncio.timeout(HELLO_S):
            return Ok(Hello.model_validate_json(await socket.receive_text()))
    except (TimeoutError, KeyError, ValidationError):
        what = json_line({"token": "…", "after": 0})
        wrong = HumanText(f"Say first who you are and what you have, like this: {what}")
        return Err(InvalidArgumentError(wrong, detail={"field": "token"}))


def _request(socket: WebSocket, token: str) -> Request:
    """Return the request that the first message completes, to be judged as any other."""
    headers = [(k, v) for k, v in socket.scope["headers"] if k != b"authorization"]
    headers.append((b"authorization", f"Bearer {token}".encode("latin-1", "replace")))
    return Request({**socket.scope, "type": "http", "method": "GET", "headers": headers})
