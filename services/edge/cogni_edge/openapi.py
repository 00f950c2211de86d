"""The HTTP contract as an OpenAPI 3.1 document."""

from collections.abc import Mapping

from cogni_edge.requests import TurnBody
from cogni_engine import (
    CitationDelta,
    DoneDelta,
    FailedDelta,
    MarkerDelta,
    PhaseDelta,
    ProposalDelta,
    RunDelta,
    TokenDelta,
    ToolCompletedDelta,
)

_BEARER: list[dict[str, list[str]]] = [{"hostToken": []}]
_STRING: Mapping[str, object] = {"type": "string"}
_NULLABLE: Mapping[str, object] = {"type": ["string", "null"]}
_CURSOR: Mapping[str, object] = {"type": "string", "pattern": "^[0-9]{1,15}$"}
_TIME: Mapping[str, object] = {"type": "string", "format": "date-time"}
_EVENTS = [
    kind.name
    for kind in (
        *(RunDelta, TokenDelta, PhaseDelta, ToolCompletedDelta, MarkerDelta),
        *(ProposalDelta, CitationDelta, DoneDelta, FailedDelta),
    )
]
_ERRORS = {
    "401": "No token, or one that proves nothing",
    "403": "The tenant is switched off",
    "404": "Absent or not permitted: indistinguishable",
    "408": "The request did not arrive in time",
    "409": "Decided, expired, or the key was used for another request",
    "413": "More was sent than is ever read",
    "422": "Bad input; `field` names it",
    "429": "A limit was reached; Retry-After says when to come back",
    "503": "A dependency is down; Retry-After says when to come back",
}


def document() -> dict[str, object]:
    """Return the whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "COGNI.BUILD edge", "version": "1.0.0"},
        "paths": {
            "/v1/turns": {"post": _ask()},
            "/v1/runs/{run_ref}/events": {"get": _resume()},
            "/v1/runs/{run_ref}/stop": {
                "post": _operation(
                    "stop", "End a run as Halted with what it had", {"202": _empty()}, ("run_ref",)
                )
            },
            "/v1/runs/{run_ref}/citations/{handle}": {
                "get": _operation(
                    "citation", "Open a source", {"200": _json("Source")}, ("run_ref", "handle")
                )
            },
            **{
                f"/v1/proposals/{{proposal_id}}/{verb}": {
                    "post": _operation(
                        verb,
                        f"{verb.title()} a proposal",
                        {"200": _json("Proposal")},
                        ("proposal_id",),
                    )
                }
                for verb in ("accept", "decline")
            },
            "/v1/conversations": {
                "get": _operation(
                    "conversations", "List own conversations", {"200": _json("Conversations")}
                )
            },
            "/v1/conversations/{conversation_id}": {
                "get": _operation(
                    "conversation",
                    "Reopen an own conversation",
                    {"200": _json("ConversationWithTurns")},
                    ("conversation_id",),
                )
            },
            **{
                path: {"get": _open(name, summary, media)}
                for path, name, summary, media in (
                    ("/healthz", "healthz", "The process runs", "application/json"),
                    ("/readyz", "readyz", "A question would be answered now", "application/json"),
                    ("/metrics", "metrics", "Counters for scraping", "text/plain"),
                    ("/openapi.json", "openapi", "This document", "application/json"),
                )
            },
        },
        "components": {
            "securitySchemes": {
                "hostToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
            "schemas": _schemas(),
        },
    }


def _ask() -> dict[str, object]:
    body = {"required": True, "content": {"application/json": {"schema": _ref("Turn")}}}
    answers = {
        "200": {
            "description": "The outcome, or its deltas as they come",
            "content": {
                "application/json": {"schema": _ref("Outcome")},
                "text/event-stream": {"schema": _ref("Event")},
            },
        }
    }
    return {**_operation("ask", "Ask a question", answers), "requestBody": body}


def _resume() -> dict[str, object]:
    answers = {
        "200": {
            "description": "Deltas after the cursor, then live",
            "content": {"text/event-stream": {"schema": _ref("Event")}},
        }
    }
    operation = _operation("events", "Resume a run", answers, ("run_ref",))
    cursor = {
        "name": "Last-Event-ID",
        "in": "header",
        "required": False,
        "schema": _CURSOR,
    }
    parameters = operation["parameters"]
    assert isinstance(parameters, list)
    return {**operation, "parameters": [*parameters, cursor]}


def _operation(
    name: str, summary: str, answers: Mapping[str, object], path: tuple[str, ...] = ()
) -> dict[str, object]:
    parameters: list[dict[str, object]] = [
        {"name": p, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for p in path
    ]
    if name in ("ask", "stop", "accept", "decline"):
        parameters.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "maxLength": 255},
            }
        )
    problems = {
        status: {
            "description": text,
            "content": {"application/problem+json": {"schema": _ref("Problem")}},
        }
        for status, text in _ERRORS.items()
    }
    return {
        "operationId": name,
        "summary": summary,
        "security": _BEARER,
        "parameters": parameters,
        "responses": {**answers, **problems},
    }


def _open(name: str, summary: str, media: str) -> dict[str, object]:
    answers: dict[str, object] = {
        "200": {"description": summary, "content": {media: {"schema": {}}}}
    }
    if name == "readyz":
        answers["503"] = {
            "description": "Not yet; the title says why",
            "content": {"application/problem+json": {"schema": _ref("Problem")}},
        }
    return {"operationId": name, "summary": summary, "security": [], "responses": answers}


def _json(name: str) -> dict[str, object]:
    return {"description": name, "content": {"application/json": {"schema": _ref(name)}}}


def _empty() -> dict[str, object]:
    return {"description": "Accepted"}


def _ref(name: str) -> dict[str, object]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _list(of: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": of}


def _schemas() -> dict[str, object]:
    turn = TurnBody.model_json_schema(ref_template="#/components/schemas/{model}")
    subject = turn.pop("$defs")["SubjectRefBody"]
    citation = _object(handle=_STRING, label=_STRING, locator=_STRING, document_id=_STRING)
    marker = _object(marker=_STRING, kind=_STRING, payload={"type": "object"})
    conversation = {
        "id": _STRING,
        "title": _STRING,
        "surface_id": _STRING,
        "started_at": _TIME,
        "last_turn_at": _TIME,
        "ended_at": _NULLABLE,
        "turn_count": {"type": "integer"},
    }
    past = _object(run_ref=_STRING, asked_at=_TIME, question=_STRING, answer=_STRING, kind=_STRING)
    proposal = _object(
        id=_STRING,
        tool=_STRING,
        state=_STRING,
        rendering={"type": "object"},
        expires_at=_TIME,
        note=_STRING,
    )
    kinds = ["completed", "refused", "halted", "proposed", "failed"]
    return {
        "Turn": turn,
        "SubjectRefBody": subject,
        "Event": {
            **_object(id=_CURSOR, event={"type": "string", "enum": _EVENTS}, data=_STRING),
            "description": "One event of the stream; `data` is one line of JSON",
        },
        "Outcome": _object(
            run_ref=_STRING,
            conversation_id=_STRING,
            kind={"type": "string", "enum": kinds},
            text=_STRING,
            html=_STRING,
            citations=_list(citation),
            markers=_list(marker),
            proposal={"anyOf": [_ref("Proposal"), {"type": "null"}]},
            reason=_NULLABLE,
            message=_NULLABLE,
            usage={"type": "object"},
            generated_label=_STRING,
            indexed_through=_NULLABLE,
        ),
        "Proposal": proposal,
        "Source": _object(
            handle=_STRING,
            label=_STRING,
            locator=_STRING,
            document_id=_STRING,
            text=_STRING,
            url=_NULLABLE,
        ),
        "Conversation": _object(**conversation),
        "Conversations": _object(conversations=_list(_ref("Conversation"))),
        "ConversationWithTurns": _object(**conversation, turns=_list(past)),
        "Problem": {
            "type": "object",
            "properties": {
                "type": _STRING,
                "title": _STRING,
                "status": {"type": "integer"},
                "field": _STRING,
            },
            "required": ["status", "title", "type"],
        },
    }
