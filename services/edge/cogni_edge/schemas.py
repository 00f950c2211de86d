"""The shapes of what goes in and out, as JSON schemas."""

from collections.abc import Mapping

from cogni_edge.agui_requests import RunInputBody
from cogni_edge.requests import FeedbackBody, TurnBody
from cogni_edge.subscriptions_requests import RedriveBody, SubscriptionBody
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
from cogni_surfaces import PLACEMENTS

STRING: Mapping[str, object] = {"type": "string"}
CURSOR: Mapping[str, object] = {"type": "string", "pattern": "^[0-9]{1,15}$"}
_NULLABLE: Mapping[str, object] = {"type": ["string", "null"]}
_TIME: Mapping[str, object] = {"type": "string", "format": "date-time"}
_BOOLEAN: Mapping[str, object] = {"type": "boolean"}
_OBJECT: Mapping[str, object] = {"type": "object"}
_EVENTS = [
    kind.name
    for kind in (
        *(RunDelta, TokenDelta, PhaseDelta, ToolCompletedDelta, MarkerDelta),
        *(ProposalDelta, CitationDelta, DoneDelta, FailedDelta),
    )
]


def ref(name: str) -> dict[str, object]:
    """Return a reference to the schema of that name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def _list(of: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": of}


def schemas() -> dict[str, object]:
    """Return every schema by name."""
    turn = TurnBody.model_json_schema(ref_template="#/components/schemas/{model}")
    subject = turn.pop("$defs")["SubjectRefBody"]
    feedback = FeedbackBody.model_json_schema(ref_template="#/components/schemas/{model}")
    run_input = RunInputBody.model_json_schema(ref_template="#/components/schemas/{model}")
    definitions = {**feedback.pop("$defs"), **run_input.pop("$defs")}
    citation = _object(handle=STRING, label=STRING, locator=STRING, document_id=STRING)
    marker = _object(marker=STRING, kind=STRING, payload={"type": "object"})
    conversation = {
        "id": STRING,
        "title": STRING,
        "surface_id": STRING,
        "started_at": _TIME,
        "last_turn_at": _TIME,
        "ended_at": _NULLABLE,
        "turn_count": {"type": "integer"},
    }
    past = _object(run_ref=STRING, asked_at=_TIME, question=STRING, answer=STRING, kind=STRING)
    proposal = _object(
        id=STRING,
        tool=STRING,
        state=STRING,
        arguments={"type": "object"},
        rendering={"type": "object"},
        expires_at=_TIME,
        note=STRING,
    )
    kinds = ["completed", "refused", "halted", "proposed", "failed"]
    return {
        "Turn": turn,
        "SubjectRefBody": subject,
        "RunInput": run_input,
        "Event": {
            **_object(id=CURSOR, event={"type": "string", "enum": _EVENTS}, data=STRING),
            "description": "One event of the stream; `data` is one line of JSON",
        },
        "Outcome": _object(
            run_ref=STRING,
            conversation_id=STRING,
            kind={"type": "string", "enum": kinds},
            text=STRING,
            html=STRING,
            citations=_list(citation),
            markers=_list(marker),
            proposal={"anyOf": [ref("Proposal"), {"type": "null"}]},
            reason=_NULLABLE,
            message=_NULLABLE,
            usage={"type": "object"},
            generated_label=STRING,
            indexed_through=_NULLABLE,
        ),
        "Surface": _object(
            surface_id=STRING,
            name=STRING,
            person=STRING,
            locale={"type": "string", "enum": ["en", "de"]},
            brand=_OBJECT,
            names=_OBJECT,
            capabilities=_OBJECT,
            context=_object(
                items=_list(_object(kind=STRING, id=STRING, title=STRING)), removable=_BOOLEAN
            ),
        ),
        "Mount": _mount(),
        **_subscriptions(),
        **_gaps(),
        "Feedback": feedback,
        **definitions,
        "Review": _object(review_ref=STRING),
        "Attached": _object(
            document_id=STRING, name=STRING, conversation_id=STRING, unread=_list(STRING)
        ),
        "Attachments": _object(attachments=_list(_object(document_id=STRING, name=STRING))),
        "Widget": _widget(),
        "Rest": _object(text=STRING, html=STRING, more=_BOOLEAN),
        "Proposal": proposal,
        "Source": _object(
            handle=STRING,
            label=STRING,
            locator=STRING,
            document_id=STRING,
            text=STRING,
            url=_NULLABLE,
        ),
        "Conversation": _object(**conversation),
        "Conversations": _object(conversations=_list(ref("Conversation"))),
        "ConversationWithTurns": _object(**conversation, turns=_list(past)),
        "Problem": {
            "type": "object",
            "properties": {
                "type": STRING,
                "title": STRING,
                "status": {"type": "integer"},
                "field": STRING,
            },
            "required": ["status", "title", "type"],
        },
    }


def _gaps() -> dict[str, object]:
    gap = _object(source_id=STRING, name=STRING, reason=STRING, explanation=STRING, seen_at=_TIME)
    corpus = _object(
        corpus_id=STRING,
        name=STRING,
        indexed_through=_NULLABLE,
        total={"type": "integer"},
        gaps=_list(gap),
    )
    return {"Gaps": _object(corpora=_list(corpus))}


def _subscriptions() -> dict[str, object]:
    subscription = {
        "id": STRING,
        "url": STRING,
        "types": _list(STRING),
        "state": STRING,
        "since": _TIME,
        "requested_by": STRING,
        "requested_at": _TIME,
        "decided_by": _NULLABLE,
    }
    number = {"type": "integer"}
    dead = _object(event=STRING, type=STRING, attempts=number, reason=STRING, since=_TIME)
    return {
        "SubscriptionBody": SubscriptionBody.model_json_schema(),
        "RedriveBody": RedriveBody.model_json_schema(),
        "Subscription": _object(**subscription),
        "SubscriptionAsked": _object(**subscription, secret=_NULLABLE),
        "Subscriptions": _object(subscriptions=_list(ref("Subscription"))),
        "DeadDeliveries": _object(deliveries=_list(dead)),
        "Redriven": _object(redriven=number),
    }


def _mount() -> dict[str, object]:
    required = _object(surface_id=STRING, key_id=STRING)
    optional = {
        "subject_ref": {"anyOf": [ref("SubjectRefBody"), {"type": "null"}]},
        "brand": _OBJECT,
        "placement": {"type": "string", "enum": list(PLACEMENTS)},
        "locale": STRING,
    }
    return {
        **required,
        "properties": {**_properties(required), **optional},
        "additionalProperties": False,
    }


def _widget() -> dict[str, object]:
    table = _object(columns=_list(STRING), rows=_list({"type": "array"}))
    always = _object(
        marker=STRING,
        kind=STRING,
        state={"type": "string", "enum": ["ready", "evicted", "never_issued"]},
        title=STRING,
    )
    return {
        **always,
        "properties": {**_properties(always), "svg": STRING, "html": STRING, "table": table},
    }


def _properties(schema: Mapping[str, object]) -> Mapping[str, object]:
    found = schema["properties"]
    assert isinstance(found, Mapping)
    return found
