"""The HTTP contract as an OpenAPI 3.1 document."""

from collections.abc import Mapping

from cogni_edge.schemas import CURSOR, STRING, ref, schemas

_BEARER: list[dict[str, list[str]]] = [{"hostToken": []}]
_KEYED = (
    "ask",
    "agui",
    "mounted",
    "stop",
    "accept",
    "decline",
    "feedback",
    "end",
    "attach",
    "attachFirst",
    "subscribe",
)
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
            "/v1/agui": {"post": _agui()},
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
            **_surface_paths(),
            **_subscription_paths(),
            "/v1/gaps": {
                "get": _with_query(
                    _operation("gaps", "What was not indexed, and why", {"200": _json("Gaps")}),
                    "corpus",
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
            "schemas": schemas(),
        },
    }


def _surface_paths() -> dict[str, object]:
    widget = _widget()
    rest = _operation("rest", "What an answer was cut by", {"200": _json("Rest")}, ("run_ref",))
    feedback = _operation(
        "feedback", "Say what you think of an answer", {"201": _json("Review")}, ("run_ref",)
    )
    ended = {"204": {"description": "Ended"}}
    end = _operation("end", "End an own conversation", ended, ("conversation_id",))
    surface = _operation("surface", "What a surface is to this person", {"200": _json("Surface")})
    mounted = _operation(
        "mounted", "The same, for what a host page mounted it with", {"200": _json("Surface")}
    )
    return {
        "/v1/surface": {
            "get": _with_query(surface, "surface_id", "subject_kind", "subject_id"),
            "post": {**mounted, "requestBody": _body("Mount")},
        },
        "/v1/runs/{run_ref}/widgets/{ref}": {"get": widget},
        "/v1/runs/{run_ref}/rest": {"get": _with_query(rest, "surface_id")},
        "/v1/runs/{run_ref}/feedback": {"post": {**feedback, "requestBody": _body("Feedback")}},
        "/v1/conversations/{conversation_id}/end": {"post": end},
        **_attachment_paths(),
        "/surface/{key_id}": {
            "get": _with_query(
                _file("frame", "The frame of a surface", "text/html", "key_id"),
                *("surface_id", "placement"),
            )
        },
        "/surface/assets/{name}": {"get": _file("asset", "A file of the frame", "*/*", "name")},
        "/mount.js": {"get": _file("mount", "What a host page loads", "text/javascript")},
    }


def _subscription_paths() -> dict[str, object]:
    every = "/v1/event-subscriptions"
    of_one = ("subscription_id",)

    def on_one(name: str, summary: str, answer: str = "Subscription") -> dict[str, object]:
        return _operation(name, summary, {"200": _json(answer)}, of_one)

    listed = _operation("subscriptions", "Who is told of events", {"200": _json("Subscriptions")})
    asked = _operation(
        "subscribe", "Ask that an address be told of events", {"201": _json("SubscriptionAsked")}
    )
    again = on_one("redrive", "Try dead deliveries again", "Redriven")
    return {
        every: {"get": listed, "post": {**asked, "requestBody": _body("SubscriptionBody")}},
        f"{every}/{{subscription_id}}": {"delete": on_one("unsubscribe", "Tell it nothing more")},
        f"{every}/{{subscription_id}}/confirm": {
            "post": on_one("confirm", "Confirm what another administrator asked for")
        },
        f"{every}/{{subscription_id}}/decline": {
            "post": on_one("declineSubscription", "Decline what was asked for")
        },
        f"{every}/{{subscription_id}}/rotate": {
            "post": on_one("rotate", "Draw a new secret", "SubscriptionAsked")
        },
        f"{every}/{{subscription_id}}/dead": {
            "get": on_one("dead", "Deliveries that were given up", "DeadDeliveries")
        },
        f"{every}/{{subscription_id}}/redrive": {
            "post": {**again, "requestBody": _body("RedriveBody")}
        },
    }


def _widget() -> dict[str, object]:
    operation = _operation("widget", "Open a widget", {"200": _json("Widget")}, ("run_ref", "ref"))
    parameters = operation["parameters"]
    assert isinstance(parameters, list)
    pixels = {"type": "integer", "minimum": 0, "maximum": 99_999}
    width = {"name": "width", "in": "query", "required": False, "schema": pixels}
    return {**operation, "parameters": [*parameters, width]}


def _attachment_paths() -> dict[str, object]:
    place, one = "/v1/conversations/{conversation_id}/attachments", ("conversation_id",)
    added = {"201": _json("Attached")}
    add = _operation("attach", "Add a file to an own conversation", added, one)
    first = _operation("attachFirst", "Begin a conversation with a file", added)
    held = {"200": _json("Attachments")}
    listed = _operation("attachments", "List the files of an own conversation", held, one)
    gone = {"204": {"description": "Gone"}}
    remove = _operation("detach", "Remove it", gone, ("conversation_id", "document_id"))
    return {
        "/v1/attachments": {"post": _with_query(_with_file(first), "surface_id")},
        place: {"get": listed, "post": _with_file(add)},
        f"{place}/{{document_id}}": {"delete": remove},
    }


def _with_file(operation: dict[str, object]) -> dict[str, object]:
    name = {"name": "name", "in": "query", "required": True, "schema": {**STRING, "minLength": 1}}
    parameters = operation["parameters"]
    assert isinstance(parameters, list)
    raw = {"schema": {"type": "string", "format": "binary"}}
    body = {"required": True, "content": {"application/octet-stream": raw}}
    return {**operation, "parameters": [*parameters, name], "requestBody": body}


def _file(name: str, summary: str, media: str, *path: str) -> dict[str, object]:
    answers: dict[str, object] = {
        "200": {"description": summary, "content": {media: {"schema": STRING}}},
        "304": {"description": "The caller has it already"},
    }
    return {**_operation(name, summary, answers, path), "security": []}


def _with_query(operation: dict[str, object], *names: str) -> dict[str, object]:
    parameters = operation["parameters"]
    assert isinstance(parameters, list)
    query = [{"name": n, "in": "query", "required": False, "schema": STRING} for n in names]
    return {**operation, "parameters": [*parameters, *query]}


def _ask() -> dict[str, object]:
    answers = {
        "200": {
            "description": "The outcome, or its deltas as they come",
            "content": {
                "application/json": {"schema": ref("Outcome")},
                "text/event-stream": {"schema": ref("Event")},
            },
        }
    }
    return {**_operation("ask", "Ask a question", answers), "requestBody": _body("Turn")}


def _agui() -> dict[str, object]:
    stream = {"text/event-stream": {"schema": STRING}}
    answers = {"200": {"description": "One run, as events of AG-UI 1", "content": stream}}
    asked = _with_query(
        _operation("agui", "Ask, or answer an interrupt, as an AG-UI client", answers),
        *("surface_id", "subject_kind", "subject_id"),
    )
    place = {"type": "string", "pattern": r"^[0-9]{1,15}(\.[0-9]{1,4})?$"}
    cursor = {"name": "Last-Event-ID", "in": "header", "required": False, "schema": place}
    parameters = asked["parameters"]
    assert isinstance(parameters, list)
    return {**asked, "parameters": [*parameters, cursor], "requestBody": _body("RunInput")}


def _resume() -> dict[str, object]:
    answers = {
        "200": {
            "description": "Deltas after the cursor, then live",
            "content": {"text/event-stream": {"schema": ref("Event")}},
        }
    }
    operation = _with_query(
        _operation("events", "Resume a run", answers, ("run_ref",)), "surface_id"
    )
    cursor = {
        "name": "Last-Event-ID",
        "in": "header",
        "required": False,
        "schema": CURSOR,
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
    if name in _KEYED:
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
            "content": {"application/problem+json": {"schema": ref("Problem")}},
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
            "content": {"application/problem+json": {"schema": ref("Problem")}},
        }
    return {"operationId": name, "summary": summary, "security": [], "responses": answers}


def _json(name: str) -> dict[str, object]:
    return {"description": name, "content": {"application/json": {"schema": ref(name)}}}


def _body(name: str) -> dict[str, object]:
    return {"required": True, "content": {"application/json": {"schema": ref(name)}}}


def _empty() -> dict[str, object]:
    return {"description": "Accepted"}
