import json
from datetime import timedelta
from typing import Any

from cloudevents.core.formats.json import JSONFormat

from cogni_application.events.envelope import event_body
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
from cogni_domain.events_outgoing import MAX_BODY, OutgoingEvent
from cogni_kernel import InvalidArgumentError, PrincipalId, ProposalId, RunRef, TenantId
from cogni_testing.assertions import err, ok
from cogni_testing.doubles import START

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
RUN, LONG = RunRef("r" * 64), "x" * 128
EVENTS: list[Event] = [
    ConversationStarted(ACME, LONG, LONG, PrincipalId(LONG)),
    ConversationEnded(ACME, LONG, RUN, 10**9),
    MutationProposed(ACME, RUN, LONG, ProposalId(LONG)),
    MutationExecuted(ACME, RUN, LONG, ProposalId(LONG)),
    ArtifactProduced(ACME, RUN, LONG, LONG),
    CorrectionSubmitted(ACME, RUN, LONG),
    BudgetThreshold(ACME, LONG, 100),
    ToolFailed(ACME, RUN, LONG, LONG, LONG),
]


def outgoing(event: Event) -> OutgoingEvent:
    return OutgoingEvent(1, idempotency_key(event), event.tenant_id, event_payload(event), START)


def test_the_public_library_reads_every_event() -> None:
    for event in EVENTS:
        body = ok(event_body(outgoing(event)))
        read = JSONFormat().read(None, body)

        assert read.get_id() == idempotency_key(event)
        assert read.get_type() == f"cogni.api.events.v1.{type(event).__name__}"
        assert read.get_source() == "/tenants/acme"
        assert read.get_time() == START
        assert read.get_data() == {k: v for k, v in event_payload(event).items() if k != "type"}
        assert len(body.encode()) <= MAX_BODY


def test_the_same_event_gives_the_same_bytes() -> None:
    for event in EVENTS:
        assert event_body(outgoing(event)) == event_body(outgoing(event))


def test_an_event_that_is_too_large_is_refused() -> None:
    large = ToolFailed(ACME, RUN, "call", "t" * MAX_BODY, "Upstream")

    assert not err(event_body(outgoing(large)), InvalidArgumentError).retryable


async def test_only_who_wants_it_gets_it_and_only_of_an_own_tenant(house: Any) -> None:
    await house.subscribed("failed.example", "ToolFailed")
    await house.subscribed("both.example", "ToolFailed", "BudgetThreshold")
    await house.write(BudgetThreshold(ACME, "day", 80), BudgetThreshold(GLOBEX, "day", 90))

    await house.relay().relay_off()
    assert await house.worker().work_off() == 1

    [(host, message)] = house.sink.sent
    assert host == "both.example"
    assert json.loads(message.body)["data"]["pct_of_limit"] == 80


async def test_fanning_out_twice_delivers_once(house: Any) -> None:
    await house.subscribed("hooks.example", "BudgetThreshold")
    events = [outgoing(BudgetThreshold(ACME, "day", n)) for n in range(3)]

    ok(await house.fan_out.publish(events))
    ok(await house.fan_out.publish(events))

    assert await house.worker().work_off() == 3


async def test_an_event_without_a_listener_is_published_to_nobody(house: Any) -> None:
    await house.write(BudgetThreshold(ACME, "day", 80))

    await house.relay().relay_off()
    await house.subscribed("hooks.example", "BudgetThreshold")
    house.clock.advance(timedelta(minutes=1))
    await house.relay().relay_off()

    assert await house.worker().work_off() == 0


async def test_one_event_that_is_too_large_holds_up_no_other(house: Any) -> None:
    await house.subscribed("hooks.example", "ToolFailed", "BudgetThreshold")
    large = ToolFailed(ACME, RUN, "call", "t" * MAX_BODY, "Upstream")
    await house.write(BudgetThreshold(ACME, "day", 1), large, BudgetThreshold(ACME, "day", 2))

    await house.relay().relay_off()

    assert await house.worker().work_off() == 2
