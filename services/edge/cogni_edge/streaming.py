"""Deltas on their way out: as events, or waited for until the outcome."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from cogni_domain.ports.run_log import NumberedDelta
from cogni_edge.problems import PRIVATE
from cogni_engine import DoneDelta, FailedDelta, is_terminal
from cogni_surfaces import ServerEvent, View, disclosed, server_event

HEARTBEAT_S = 15
LAST_WORDS_S = 8
"""How long a stream may go on after the process was told to end, so that its run can be sealed."""

Deltas: TypeAlias = AsyncIterator[NumberedDelta]


def event_stream(deltas: Deltas, view: View) -> Response:
    """Return deltas as server-sent events; `id` is the cursor."""

    async def events() -> AsyncIterator[ServerSentEvent]:
        async for numbered in deltas:
            event = await _encoded(numbered, view)
            yield ServerSentEvent(data=event.data, event=event.event, id=event.id, sep="\n")

    return EventSourceResponse(
        events(),
        headers=PRIVATE,
        ping=HEARTBEAT_S,
        sep="\n",
        shutdown_grace_period=LAST_WORDS_S,
    )


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
