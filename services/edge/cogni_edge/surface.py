"""What a surface asks for beside the conversation itself: its look, its widgets, the rest of an answer."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import Response

from cogni_application.attachments import Added, AttachmentService, Held
from cogni_application.subjects import SubjectService
from cogni_application.turn.feedback import FeedbackService
from cogni_application.turn.transcripts import TranscriptService
from cogni_application.turn.widgets import ShownWidget, WidgetService
from cogni_domain.access.principal import Principal
from cogni_domain.reviews import Review
from cogni_domain.subjects import VisibleContext
from cogni_edge.answering import Answering
from cogni_edge.problems import PRIVATE
from cogni_edge.requests import (
    file_of,
    idempotency_key_of,
    language_in,
    mounted_with,
    opinion_of,
    subject_of,
    surface_id_of,
    view_of,
    width_of,
)
from cogni_edge.views import context_view, json_response
from cogni_kernel import ConversationId, DocumentId, Err, Ok, Result, RunRef
from cogni_surfaces import BrandTokens, SurfaceRegistry, said, the_rest, widget_view

ASSISTANT = "Assistant"


@dataclass(frozen=True, slots=True)
class SurfaceServices:
    """What the calls of a surface need.

    Attributes:
        subjects: How a reference of the host becomes a record; None where no host is connected.
    """

    registry: SurfaceRegistry
    transcripts: TranscriptService
    widgets: WidgetService
    feedback: FeedbackService
    attachments: AttachmentService
    subjects: SubjectService | None = None


@dataclass(frozen=True, slots=True)
class SurfaceRoutes:
    """The handlers of a surface's own calls."""

    services: SurfaceServices
    answering: Answering

    async def get_surface(self, request: Request) -> Response:
        """Return what a surface is to this person, and what its assistant can see of the page that they look at."""

        async def described(principal: Principal) -> Result[Mapping[str, object]]:
            asked = subject_of(request)
            if isinstance(asked, Err):
                return asked
            return await self._described(request, surface_id_of(request), asked.value, principal)

        return await self.answering.answer(request, described, json_response)

    async def post_surface(self, request: Request) -> Response:
        """Take what a host page mounted a surface with, or tell its developer why not; return the same.

        It changes nothing, so that doing it again, with whatever key, is harmless.
        """

        async def mounted(principal: Principal) -> Result[Mapping[str, object]]:
            config = await mounted_with(request)
            if isinstance(config, Err):
                return config
            given = config.value
            return await self._described(request, given.surface_id, given.subject_ref, principal)

        return await self.answering.answer(request, mounted, json_response)

    async def _described(
        self,
        request: Request,
        surface_id: str,
        subject: tuple[str, str] | None,
        principal: Principal,
    ) -> Result[Mapping[str, object]]:
        found = await self.services.registry.open(principal.tenant_id, surface_id)
        if isinstance(found, Err):
            return found
        context = await self._context(subject, principal)
        if isinstance(context, Err):
            return context
        surface, language = found.value, language_in(request)
        brand = BrandTokens.of(surface.tenant.brand).tokens
        return Ok(
            {
                "surface_id": surface.surface.id,
                "name": brand.get("name", said(ASSISTANT, language)),
                "person": principal.display_name,
                "locale": language.value,
                "brand": dict(brand),
                "names": surface.words.names(language),
                "capabilities": asdict(surface.surface.capabilities),
                "context": context_view(context.value),
            }
        )

    async def _context(
        self, asked: tuple[str, str] | None, principal: Principal
    ) -> Result[VisibleContext]:
        if self.services.subjects is None:
            return Ok(VisibleContext(()))
        return await self.services.subjects.context(asked, principal)

    async def get_widget(self, request: Request) -> Response:
        """Return what a marker of an own run stands for, drawn for as much room as there is."""
        run, ref = RunRef(request.path_params["run_ref"]), request.path_params["ref"]

        async def rendered(principal: Principal) -> Result[Mapping[str, object]]:
            width = width_of(request)
            if isinstance(width, Err):
                return width
            found = await self.services.widgets.open(run, ref, principal)
            if isinstance(found, Err):
                return found
            return Ok(await _rendered(found.value, width.value))

        return await self.answering.answer(request, rendered, json_response)

    async def post_feedback(self, request: Request) -> Response:
        """Keep what a person thinks of an own answer."""
        run = RunRef(request.path_params["run_ref"])

        async def submitted(principal: Principal) -> Result[Review]:
            opinion = await opinion_of(request)
            if isinstance(opinion, Err):
                return opinion
            return await self.services.feedback.submit(run, opinion.value, principal)

        return await self.answering.answer(
            request, submitted, lambda review: json_response({"review_ref": review.id}, 201)
        )

    async def post_end(self, request: Request) -> Response:
        """End an own conversation; doing it again changes nothing, whatever the key."""
        conversation = ConversationId(request.path_params["conversation_id"])

        async def end(principal: Principal) -> Result[None]:
            key = idempotency_key_of(request)
            if isinstance(key, Err):
                return key
            gone = await self.services.attachments.remove_all(conversation, principal)
            if isinstance(gone, Err):
                return gone
            return await self.services.transcripts.end(conversation, principal)

        return await self.answering.answer(request, end, lambda _: Response(None, 204, PRIVATE))

    async def post_attachment(self, request: Request) -> Response:
        """Add a file to an own conversation."""
        conversation = ConversationId(request.path_params["conversation_id"])

        async def added(principal: Principal) -> Result[Added]:
            file = await file_of(request)
            if isinstance(file, Err):
                return file
            return await self.services.attachments.add(conversation, file.value, principal)

        return await self.answering.answer(request, added, _added)

    async def post_first_attachment(self, request: Request) -> Response:
        """Begin a conversation with a file, before its first question."""

        async def begun(principal: Principal) -> Result[Added]:
            surface = await self.services.registry.open(principal.tenant_id, surface_id_of(request))
            if isinstance(surface, Err):
                return surface
            file = await file_of(request)
            if isinstance(file, Err):
                return file
            kind = surface.value.surface.id
            return await self.services.attachments.begin(kind, file.value, principal)

        return await self.answering.answer(request, begun, _added)

    async def get_attachments(self, request: Request) -> Response:
        """List the files of an own conversation."""
        conversation = ConversationId(request.path_params["conversation_id"])
        return await self.answering.answer(
            request,
            lambda principal: self.services.attachments.held(conversation, principal),
            lambda files: json_response({"attachments": [_held(file) for file in files]}),
        )

    async def delete_attachment(self, request: Request) -> Response:
        """Remove a file from an own conversation."""
        conversation = ConversationId(request.path_params["conversation_id"])
        document = DocumentId(request.path_params["document_id"])
        return await self.answering.answer(
            request,
            lambda principal: self.services.attachments.remove(conversation, document, principal),
            lambda _: Response(None, 204, PRIVATE),
        )

    async def get_rest(self, request: Request) -> Response:
        """Return what an own answer was cut by on its surface."""
        run = RunRef(request.path_params["run_ref"])

        async def rest(principal: Principal) -> Result[Mapping[str, object]]:
            surface = await self.services.registry.open(principal.tenant_id, surface_id_of(request))
            if isinstance(surface, Err):
                return surface
            outcome = await self.services.transcripts.outcome(run, principal)
            if isinstance(outcome, Err):
                return outcome
            view = view_of(request, surface.value)
            return Ok(await asyncio.to_thread(the_rest, outcome.value, view))

        return await self.answering.answer(request, rest, json_response)


def _held(file: Held) -> dict[str, object]:
    return {"document_id": str(file.document_id), "name": file.name}


def _added(added: Added) -> Response:
    """Tell what was taken in, where to, and what in it could not be read."""
    told = {"conversation_id": str(added.conversation), "unread": list(added.unread)}
    return json_response({**_held(added.file), **told}, 201)


async def _rendered(widget: ShownWidget, width: int | None) -> Mapping[str, object]:
    """Render in a thread: a chart takes a moment to draw."""
    return await asyncio.to_thread(widget_view, widget.marker, widget.payload, width)
