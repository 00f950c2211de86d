"""Deltas on their way out: as events, or waited for until the outcome."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.ports.run_log import NumberedDelta
from cogni_edge.problems import PRIVATE
from cogni_engine import DoneDelta, FailedDelta, is_terminal
from cogni_kernel import Err, Result, RunRef
from cogni_surfaces import ServerEvent, View, disclosed, limited, server_event

HEARTBEAT_S = 15
BEAT = b": ping\n\n"

Deltas: TypeAlias = AsyncIterator[NumberedDelta]


async def resumed(
    transcripts: TranscriptService, run: RunRef, principal: Principal, after: int, view: View
) -> Result[Deltas]:
    """Return the deltas of an own run after a cursor; what came before them counts towards what is shown.

    Errors:
        Error: As of `TranscriptService.follow`.
    """
    rest = await transcripts.follow(run, principal, after)
    if isinstance(rest, Err):
        return rest
    every = await transcripts.follow(run, principal, 0) if after else rest
    return every.map(lambda deltas: limited(deltas, view.limit, after))


def event_stream(deltas: Deltas, view: View) -> Response:
    """Return deltas as server-sent events; `id` is the cursor."""

    async def events() -> AsyncIterator[bytes]:
        async for numbered in deltas:
            event = await _encoded(numbered, view)
            yield f"id: {event.id}\nevent: {event.event}\ndata: {event.data}\n\n".encode()

    return EventStream(events())


class EventStream(Response):
    """Server-sent events as they come, and a comment when none does, so that nobody in between closes the line.

    One write for each event and two tasks for each reader: a thousand of them are served by one process.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(None, 200, {**PRIVATE, "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        tasks = [
            asyncio.create_task(self._write(send)),
            asyncio.create_task(self._beat(receive, send)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def _write(self, send: Send) -> None:
        async for event in self._events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _beat(self, receive: Receive, send: Send) -> None:
        """Write a comment now and then, until the reader goes away."""
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    while (await receive())["type"] != "http.disconnect":
                        pass
            except TimeoutError:
                await send({"type": "http.response.body", "body": BEAT, "more_body": True})
            else:
                return


async def outcome_of(deltas: Deltas, view: View) -> Mapping[str, object]:
    """Wait for the terminal delta; return its outcome as a person sees it."""
    async for numbered in deltas:
        if isinstance(numbered.delta, DoneDelta | FailedDelta):
            return await asyncio.to_thread(disclosed, numbered.delta.outcome, view)
    raise RuntimeError("a run ended without a terminal delta")


async def _encoded(numbered: NumberedDelta, view: View) -> ServerEvent:
    """Encode a delta; an outcome in a thread, since rendering a hostile one takes a second."""
    if is_terminal(numbered.delta):
        return await asyncio.to_thread(server_event, numbered, view)
    return server_event(numbered, view)
