"""What goes out over HTTP, as the contract names it."""

from collections.abc import Mapping

from starlette.responses import Response

from cogni_application.turn.transcripts import OpenedSource
from cogni_domain.conversations import Conversation, PastTurn
from cogni_domain.subjects import VisibleContext
from cogni_edge.problems import PRIVATE
from cogni_surfaces import Language, json_line, said_place


def json_response(body: Mapping[str, object], status: int = 200) -> Response:
    """Return a value as JSON."""
    return Response(json_line(body), status, PRIVATE, media_type="application/json")


def source_view(source: OpenedSource, language: Language) -> dict[str, object]:
    """Return a cited passage, its place as it is said in a language, and where the whole can be opened."""
    citation = source.citation
    return {
        "handle": citation.handle.token,
        "label": citation.label,
        "locator": said_place(citation.locator, language),
        "document_id": str(citation.document_id),
        "text": source.chunk.text,
        "url": source.url,
    }


def context_view(context: VisibleContext) -> dict[str, object]:
    """Return what the assistant can see beside the conversation, by reference and title, and whether it can be taken away."""
    items = [{"kind": s.ref.kind, "id": s.ref.id, "title": s.title} for s in context.items]
    return {"items": items, "removable": context.removable}


def conversation_view(found: Conversation) -> dict[str, object]:
    """Return what a list of conversations says of one."""
    return {
        "id": str(found.id),
        "title": found.title,
        "surface_id": found.surface_id,
        "started_at": found.started_at.isoformat(),
        "last_turn_at": found.last_turn_at.isoformat(),
        "ended_at": found.ended_at.isoformat() if found.ended_at else None,
        "turn_count": found.turn_count,
    }


def turn_view(turn: PastTurn) -> dict[str, object]:
    """Return one question of a conversation with its answer."""
    return {
        "run_ref": str(turn.run_ref),
        "asked_at": turn.asked_at.isoformat(),
        "question": turn.question,
        "answer": turn.answer,
        "kind": turn.kind,
    }
