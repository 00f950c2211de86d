"""The HTTP contract: routes in, application calls, responses out."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from cogni_application.proposals.proposals import ProposalService
from cogni_application.turn.outcome_view import proposal_payload
from cogni_application.turn.take_turn import TurnRequest, TurnService
from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.conversations import Conversation
from cogni_domain.ports.run_log import NumberedDelta, Opened
from cogni_domain.proposals import Proposal
from cogni_edge.metrics import counted, metrics
from cogni_edge.openapi import document
from cogni_edge.problems import problem, problem_response
from cogni_edge.requests import (
    TurnBody,
    cursor_of,
    idempotency_key_of,
    read_body,
    token_of,
)
from cogni_engine import DoneDelta, FailedDelta
from cogni_kernel import (
    ConversationId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    ProposalId,
    Result,
    RunRef,
)
from cogni_runtime.middleware import Call, Pipeline
from cogni_surfaces import disclosed, server_event

HEARTBEAT_S = 15
FLOOR_S = 0.02
"""A 404 takes at least this long, so that absent and forbidden take the same."""
EXECUTION_WAIT = timedelta(seconds=5)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EdgeServices:
    """What the rim calls.

    Attributes:
        pipeline: The chain that every call passes.
        ready: None, or why the product cannot answer yet.
    """

    pipeline: Pipeline
    turns: TurnService
    transcripts: TranscriptService
    proposals: ProposalService
    ready: Callable[[], Awaitable[str | None]]


class Edge:
    """The handlers of the HTTP contract."""

    def __init__(self, services: EdgeServices) -> None:
        self._services = services

    async def _answer(
        self,
        request: Request,
        handler: Callable[[Principal], Awaitable[Result[T]]],
        encode: Callable[[T], Response],
    ) -> Response:
        """Pass the chain, call, encode; an error becomes problem details."""
        started = asyncio.get_running_loop().time()
        call = Call(f"{request.method} {request.scope['path']}", token_of(request))
        result = await self._services.pipeline.run(call, handler)
        if isinstance(result, Ok):
            return encode(result.value)
        response = problem(result.error)
        if response.status_code == 404:
            await asyncio.sleep(started + FLOOR_S - asyncio.get_running_loop().time())
        return response

    async def post_turn(self, request: Request) -> Response:
        """Start a run, or find the one of this key; stream it, or wait for its outcome."""
        body = await read_body(request, TurnBody)
        key = idempotency_key_of(request)
        streams = "text/event-stream" in request.headers.get("accept", "")

        async def handle(principal: Principal) -> Result[AsyncIterator[NumberedDelta]]:
            if isinstance(body, Err) or isinstance(key, Err):
                return body if isinstance(body, Err) else Err(key.error)  # type: ignore[union-attr]
            opened = await self._services.turns.start(
                _turn_request(body.value, key.value), principal
            )
            if isinstance(opened, Err):
                return opened
            return await self._follow(opened.value, principal)

        if streams:
            return await self._answer(request, handle, _stream)

        async def wait(principal: Principal) -> Result[Mapping[str, object]]:
            deltas = await handle(principal)
            return deltas if isinstance(deltas, Err) else Ok(await _outcome(deltas.value))

        return await self._answer(request, wait, lambda outcome: JSONResponse(disclosed(outcome)))

    async def _follow(
        self, opened: Opened, principal: Principal
    ) -> Result[AsyncIterator[NumberedDelta]]:
        return await self._services.transcripts.follow(opened.run_ref, principal, 0)

    async def get_events(self, request: Request) -> Response:
        """Resume a run after the last event that the reader has."""
        after = cursor_of(request)
        run = RunRef(request.path_params["run_ref"])

        async def handle(principal: Principal) -> Result[AsyncIterator[NumberedDelta]]:
            if isinstance(after, Err):
                return after
            return await self._services.transcripts.follow(run, principal, after.value)

        return await self._answer(request, handle, _stream)

    async def post_stop(self, request: Request) -> Response:
        """End a run as Halted with what it had."""
        run = RunRef(request.path_params["run_ref"])
        return await self._answer(
            request,
            lambda principal: self._services.transcripts.stop(run, principal),
            lambda _: Response(status_code=202),
        )

    async def get_citation(self, request: Request) -> Response:
        """Open a source."""
        run, handle = RunRef(request.path_params["run_ref"]), request.path_params["handle"]
        return await self._answer(
            request,
            lambda principal: self._services.transcripts.source(run, handle, principal),
            lambda source: JSONResponse(
                {
                    "handle": source.citation.handle.token,
                    "label": source.citation.label,
                    "locator": source.citation.locator,
                    "document_id": str(source.citation.document_id),
                    "text": source.chunk.text,
                    "url": source.url,
                }
            ),
        )

    async def post_accept(self, request: Request) -> Response:
        """Accept a proposal, and wait a little for what comes of it."""
        proposal = ProposalId(request.path_params["proposal_id"])

        async def handle(principal: Principal) -> Result[Proposal]:
            accepted = await self._services.proposals.accept(proposal, principal)
            if isinstance(accepted, Err):
                return accepted
            return await self._services.proposals.settled(accepted.value, EXECUTION_WAIT)

        return await self._answer(request, handle, lambda p: JSONResponse(proposal_payload(p)))

    async def post_decline(self, request: Request) -> Response:
        """Decline a proposal."""
        proposal = ProposalId(request.path_params["proposal_id"])
        return await self._answer(
            request,
            lambda principal: self._services.proposals.decline(proposal, principal),
            lambda p: JSONResponse(proposal_payload(p)),
        )

    async def get_conversations(self, request: Request) -> Response:
        """List the person's own conversations."""
        return await self._answer(
            request,
            self._services.transcripts.conversations,
            lambda found: JSONResponse({"conversations": [_conversation(c) for c in found]}),
        )

    async def get_conversation(self, request: Request) -> Response:
        """Reopen one of them."""
        wanted = ConversationId(request.path_params["conversation_id"])
        return await self._answer(
            request,
            lambda principal: self._services.transcripts.conversation(wanted, principal),
            lambda found: JSONResponse(
                {
                    **_conversation(found[0]),
                    "turns": [
                        {
                            "run_ref": str(turn.run_ref),
                            "asked_at": turn.asked_at.isoformat(),
                            "question": turn.question,
                            "answer": turn.answer,
                            "kind": turn.kind,
                        }
                        for turn in found[1]
                    ],
                }
            ),
        )

    async def get_ready(self, _: Request) -> Response:
        """Tell whether a question would be answered now."""
        why_not = await self._services.ready()
        if why_not is not None:
            return problem_response(503, why_not)
        return JSONResponse({"status": "ready"})


def create_app(
    services: EdgeServices, lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]]
) -> ASGIApp:
    """Return the HTTP application."""
    edge = Edge(services)
    routes = [
        Route("/v1/turns", edge.post_turn, methods=["POST"]),
        Route("/v1/runs/{run_ref}/events", edge.get_events, methods=["GET"]),
        Route("/v1/runs/{run_ref}/stop", edge.post_stop, methods=["POST"]),
        Route("/v1/runs/{run_ref}/citations/{handle}", edge.get_citation, methods=["GET"]),
        Route("/v1/proposals/{proposal_id}/accept", edge.post_accept, methods=["POST"]),
        Route("/v1/proposals/{proposal_id}/decline", edge.post_decline, methods=["POST"]),
        Route("/v1/conversations", edge.get_conversations, methods=["GET"]),
        Route("/v1/conversations/{conversation_id}", edge.get_conversation, methods=["GET"]),
        Route("/healthz", _healthy, methods=["GET"]),
        Route("/readyz", edge.get_ready, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
    ]
    handlers = {404: _no_route, 405: _no_method, Exception: _bug}
    return counted(Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan))


def _turn_request(body: TurnBody, key: str | None) -> TurnRequest:
    conversation = ConversationId(body.conversation_id) if body.conversation_id else None
    return TurnRequest(body.message, conversation, body.surface_id, idempotency_key=key)


def _stream(deltas: AsyncIterator[NumberedDelta]) -> Response:
    async def events() -> AsyncIterator[ServerSentEvent]:
        async for numbered in deltas:
            event = server_event(numbered)
            yield ServerSentEvent(data=event.data, event=event.event, id=event.id)

    return EventSourceResponse(events(), ping=HEARTBEAT_S, sep="\n")


async def _outcome(deltas: AsyncIterator[NumberedDelta]) -> Mapping[str, object]:
    async for numbered in deltas:
        if isinstance(numbered.delta, DoneDelta | FailedDelta):
            return numbered.delta.outcome
    raise RuntimeError("a run ended without a terminal delta")


def _conversation(found: Conversation) -> dict[str, object]:
    return {
        "id": str(found.id),
        "title": found.title,
        "surface_id": found.surface_id,
        "started_at": found.started_at.isoformat(),
        "last_turn_at": found.last_turn_at.isoformat(),
        "ended_at": _iso(found.ended_at),
        "turn_count": found.turn_count,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


async def _healthy(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _openapi(_: Request) -> Response:
    return Response(json.dumps(document()), media_type="application/json")


async def _no_route(_: Request, __: Exception) -> Response:
    return problem(NotFoundError(HumanText("")))


async def _no_method(_: Request, __: Exception) -> Response:
    return problem_response(405, "This address does not take that method.")


async def _bug(_: Request, __: Exception) -> Response:
    return problem_response(500, "Something went wrong on our side. Please try again.")
