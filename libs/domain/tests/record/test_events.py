"""Events say what happened, by handles alone, and the same happening has the same name."""

import json
from dataclasses import fields, replace
from typing import get_args

import pytest

from cogni_domain import events
from cogni_domain.events import (
    ArtifactProduced,
    BudgetThreshold,
    ConversationEnded,
    ConversationStarted,
    CorrectionSubmitted,
    Event,
    MutationExecuted,
    MutationProposed,
    ToolFailed,
    event_payload,
    idempotency_key,
)
from cogni_kernel import PrincipalId, ProposalId, RunRef, TenantId

ACME, RUN = TenantId("acme"), RunRef("r1")
EVERY: tuple[Event, ...] = (
    ConversationStarted(ACME, "c1", "chat", PrincipalId("alice")),
    ConversationEnded(ACME, "c1", RUN, 3),
    MutationProposed(ACME, RUN, "book", ProposalId("p1")),
    MutationExecuted(ACME, RUN, "book", ProposalId("p1")),
    ArtifactProduced(ACME, RUN, "a1", "report"),
    CorrectionSubmitted(ACME, RUN, "v1"),
    BudgetThreshold(ACME, "day", 80),
    ToolFailed(ACME, RUN, "call-1", "book", "Upstream"),
)


def test_there_are_eight_events_each_with_its_trigger_written_down() -> None:
    assert {type(event) for event in EVERY} == set(get_args(Event))
    for event in EVERY:
        assert f"| {type(event).__name__} |" in (events.__doc__ or "")


@pytest.mark.parametrize("event", EVERY, ids=lambda e: type(e).__name__)
def test_a_payload_is_plain_json_with_its_type(event: Event) -> None:
    payload = json.loads(json.dumps(event_payload(event)))

    assert payload["type"] == type(event).__name__
    assert payload["tenant_id"] == "acme"
    assert all(isinstance(value, str | int) for value in payload.values())
    assert len(json.dumps(payload)) < 2048


@pytest.mark.parametrize("event", EVERY, ids=lambda e: type(e).__name__)
def test_no_event_has_room_for_what_was_said(event: Event) -> None:
    names = {field.name for field in fields(event)}

    assert not names & {"question", "answer", "title", "text", "content", "message"}


def test_the_same_happening_has_the_same_name_and_another_another() -> None:
    keys = [idempotency_key(event) for event in EVERY]

    assert keys == [idempotency_key(replace(event)) for event in EVERY]
    assert len(set(keys)) == len(EVERY)
    proposed = MutationProposed(ACME, RUN, "book", ProposalId("p1"))
    assert idempotency_key(proposed) != idempotency_key(replace(proposed, run_ref=RunRef("r2")))
