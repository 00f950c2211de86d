"""The HTTP contract: routes in, application calls, responses out."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp

from cogni_application.events.subscribing import SubscriptionService
from cogni_application.gaps import GapService
from cogni_application.proposals.proposals import ProposalService
from cogni_application.turn.outcome_view import proposal_payload
from cogni_application.turn.take_turn import TurnService
from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.proposals import Proposal
from cogni_edge.agui import AguiRoutes
from cogni_edge.answering import Answering
from cogni_edge.asking import Asking
from cogni_edge.frame import FrameRoutes
from cogni_edge.gaps import GapRoutes
from cogni_edge.metrics import counted, metrics
from cogni_edge.openapi import document
from cogni_edge.problems import PRIVATE, problem, problem_response
from cogni_edge.requests import (
    cursor_of,
    idempotency_key_of,
    language_in,
    surface_id_of,
    turn_request_of,
    view_of,
    wants_stream,
    wrong_cursor,
)
from cogni_edge.streaming import Deltas, event_stream, outcome_of, resumed
from cogni_edge.subscriptions import SubscriptionRoutes
from cogni_edge.surface import SurfaceRoutes, SurfaceServices
from cogni_edge.views import conversation_view, json_response, source_view, turn_view
from cogni_edge.websocket import SocketRoutes
from cogni_kernel import (
    ConversationId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    Ok,
    ProposalId,
    Result,
    RunRef,
    UpstreamError,
)
from cogni_runtime.middleware import Pipeline
from cogni_surfaces import View, said, spoken_proposal

_FILES = "/v1/conversations/{conversation_id}/attachments"
EXECUTION_WAIT = timedelta(seconds=5)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EdgeServices:
    """What the rim calls.

    Attributes:
        pipeline: The chain that every call passes.
        admits: Ok, or why no run can be opened now: a provider is down.
        ready: None, or why the product cannot answer yet.
        surfaces: Where it can be asked from, and what is shown there.
        gaps: What was not indexed; None where nothing is indexed by this deployment.
        subscriptions: Who is told of events; None where no events leave, and nothing is at its addresses.
    """

    pipeline: Pipeline
    turns: TurnService
    transcripts: TranscriptService
    proposals: ProposalService
    admits: Callable[[], Result[None]]
    ready: Callable[[], Awaitable[str | None]]
    surfaces: SurfaceServices
    subscriptions: SubscriptionService | None = None
    gaps: GapService | None = None


class Edge:
    """The handlers of the HTTP contract."""

    def __init__(self, services: EdgeServices, asking: Asking) -> None:
        self._services = services
        self._asking = asking
        self._answering = Answering(services.pipeline)

    async def post_turn(self, request: Request) -> Response:
        """Start a run, or find the one of this key; stream it, or wait for its outcome."""

        async def follow(principal: Principal) -> Result[tuple[Deltas, View]]:
            asked = await turn_request_of(request)
            if isinstance(asked, Err):
                return asked
            found = await self._asking.ask(asked.value, principal)
            return found.map(lambda run: (run.deltas, view_of(request, run.surface)))

        async def wait(principal: Principal) -> Result[Mapping[str, object]]:
            found = await follow(principal)
            return found if isinstance(found, Err) else Ok(await outcome_of(*found.value))

        if wants_stream(request):
            return await self._answering.answer(request, follow, lambda f: event_stream(*f))
        return await self._answering.answer(request, wait, json_response)

    async def get_events(self, request: Request) -> Response:
        """Resume a run after the last event that the reader has."""
        run = RunRef(request.path_params["run_ref"])

        async def follow(principal: Principal) -> Result[tuple[Deltas, View]]:
            after = cursor_of(request)
            if isinstance(after, Err):
                return after
            surface = await self._services.surfaces.registry.open(
                principal.tenant_id, surface_id_of(request)
            )
            if isinstance(surface, Err):
                return surface
            view = view_of(request, surface.value)
            deltas = await self._resumed(run, principal, after.value, view)
            return deltas.map(lambda found: (found, view))

        return await self._answering.answer(request, follow, lambda found: event_stream(*found))

    async def _resumed(
        self, run: RunRef, principal: Principal, after: int, view: View
    ) -> Result[Deltas]:
        """Return the deltas after a cursor; what came before them counts towards what is shown."""
        found = await resumed(self._services.transcripts, run, principal, after, view)
        if isinstance(found, Err) and isinstance(found.error, InvalidArgumentError):
            return wrong_cursor(str(found.error.message))
        return found

    async def post_stop(self, request: Request) -> Response:
        """End a run as Halted with what it had; doing it again changes nothing, whatever the key."""
        run = RunRef(request.path_params["run_ref"])

        async def stop(principal: Principal) -> Result[None]:
            key = idempotency_key_of(request)
            if isinstance(key, Err):
                return key
            return await self._services.transcripts.stop(run, principal)

        return await self._answering.answer(request, stop, lambda _: Response(None, 202, PRIVATE))

    async def get_citation(self, request: Request) -> Response:
        """Open a source."""
        run, handle = RunRef(request.path_params["run_ref"]), request.path_params["handle"]
        return await self._answering.answer(
            request,
            lambda principal: self._services.transcripts.source(run, handle, principal),
            lambda source: json_response(source_view(source, language_in(request))),
        )

    async def post_accept(self, request: Request) -> Response:
        """Accept a proposal, and wait a little for what comes of it."""
        proposals = self._services.proposals

        async def accept(proposal: ProposalId, by: Principal, key: str | None) -> Result[Proposal]:
            accepted = await proposals.accept(proposal, by, again=key is not None)
            if isinstance(accepted, Err):
                return accepted
            return await proposals.settled(accepted.value, EXECUTION_WAIT)

        return await self._decide(request, accept)

    async def post_decline(self, request: Request) -> Response:
        """Decline a proposal."""

        async def decline(proposal: ProposalId, by: Principal, key: str | None) -> Result[Proposal]:
            proposals = self._services.proposals
            return await proposals.decline(proposal, by, again=key is not None)

        return await self._decide(request, decline)

    async def _decide(
        self,
        request: Request,
        decide: Callable[[ProposalId, Principal, str | None], Awaitable[Result[Proposal]]],
    ) -> Response:
        """Pass a decision on; one with an idempotency key may be the repetition of one made before."""
        proposal = ProposalId(request.path_params["proposal_id"])

        async def decided(principal: Principal) -> Result[Proposal]:
            key = idempotency_key_of(request)
            if isinstance(key, Err):
                return key
            return await decide(proposal, principal, key.value)

        def shown(proposal: Proposal) -> Response:
            view = View(language_in(request), words=self._services.surfaces.registry.words)
            return json_response(spoken_proposal(proposal_payload(proposal), view))

        return await self._answering.answer(request, decided, shown)

    async def get_conversations(self, request: Request) -> Response:
        """List the person's own conversations."""
        return await self._answering.answer(
            request,
            self._services.transcripts.conversations,
            lambda found: json_response({"conversations": [conversation_view(c) for c in found]}),
        )

    async def get_conversation(self, request: Request) -> Response:
        """Reopen one of them."""
        wanted = ConversationId(request.path_params["conversation_id"])
        return await self._answering.answer(
            request,
            lambda principal: self._services.transcripts.conversation(wanted, principal),
            lambda found: json_response(
                {**conversation_view(found[0]), "turns": [turn_view(turn) for turn in found[1]]}
            ),
        )

    async def get_ready(self, _: Request) -> Response:
        """Tell whether a question would be answered now."""
        why_not = await self._services.ready()
        if why_not is not None:
            return problem(UpstreamError(HumanText(why_not)))
        return json_response({"status": "ready"})


def create_app(
    services: EdgeServices, lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]]
) -> ASGIApp:
    """Return the HTTP application."""
    registry, answering = services.surfaces.registry, Answering(services.pipeline)
    asking = Asking(registry, services.turns, services.transcripts, services.admits)
    edge, frame = Edge(services, asking), FrameRoutes(registry)
    agui = AguiRoutes(answering, asking, services.proposals)
    surface = SurfaceRoutes(services.surfaces, answering)
    sockets = SocketRoutes(
        Answering(services.pipeline), services.surfaces.registry, services.transcripts
    )
    routes: list[BaseRoute] = [
        Route("/surface/assets/{name}", frame.get_asset, methods=["GET"]),
        Route("/surface/{key_id}", frame.get_frame, methods=["GET"]),
        Route("/mount.js", frame.get_mount, methods=["GET"]),
        Route("/v1/surface", surface.get_surface, methods=["GET"]),
        Route("/v1/surface", surface.post_surface, methods=["POST"]),
        Route("/v1/turns", edge.post_turn, methods=["POST"]),
        Route("/v1/agui", agui.post_run, methods=["POST"]),
        Route("/v1/runs/{run_ref}/events", edge.get_events, methods=["GET"]),
        WebSocketRoute("/v1/runs/{run_ref}/socket", sockets.follow),
        Route("/v1/runs/{run_ref}/stop", edge.post_stop, methods=["POST"]),
        Route("/v1/runs/{run_ref}/citations/{handle}", edge.get_citation, methods=["GET"]),
        Route("/v1/runs/{run_ref}/widgets/{ref}", surface.get_widget, methods=["GET"]),
        Route("/v1/runs/{run_ref}/rest", surface.get_rest, methods=["GET"]),
        Route("/v1/runs/{run_ref}/feedback", surface.post_feedback, methods=["POST"]),
        Route("/v1/conversations/{conversation_id}/end", surface.post_end, methods=["POST"]),
        Route("/v1/attachments", surface.post_first_attachment, methods=["POST"]),
        Route(_FILES, surface.get_attachments, methods=["GET"]),
        Route(_FILES, surface.post_attachment, methods=["POST"]),
        Route(f"{_FILES}/{{document_id}}", surface.delete_attachment, methods=["DELETE"]),
        Route("/v1/proposals/{proposal_id}/accept", edge.post_accept, methods=["POST"]),
        Route("/v1/proposals/{proposal_id}/decline", edge.post_decline, methods=["POST"]),
        Route("/v1/conversations", edge.get_conversations, methods=["GET"]),
        Route("/v1/conversations/{conversation_id}", edge.get_conversation, methods=["GET"]),
        Route("/healthz", _healthy, methods=["GET"]),
        Route("/readyz", edge.get_ready, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
    ]
    if services.gaps is not None:
        routes += GapRoutes(services.gaps, answering).routes()
    if services.subscriptions is not None:
        routes += SubscriptionRoutes(services.subscriptions, answering).routes()
    handlers = {HTTPException: _no_route, Exception: _bug}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False
    return counted(app)


async def _healthy(_: Request) -> Response:
    return json_response({"status": "ok"})


async def _openapi(_: Request) -> Response:
    return json_response(document())


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer for an address that is not there, or that does not take the method."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        response = problem_response(405, "This address does not take that method.")
        response.headers["Allow"] = (error.headers or {}).get("Allow", "")
        return response
    return problem(NotFoundError(HumanText("")), language_in(request))


async def _bug(request: Request, bug: Exception) -> Response:
    reference = secrets.token_hex(6)
    _log.error("request failed, reference %s: %r", reference, bug)
    message = (
        f"Something went wrong on our side. Please try again; if it stays, report {reference}."
    )
    return problem_response(500, said(message, language_in(request)))
