import asyncio
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.openapi.checks import JsonSchemaError
from schemathesis.specs.openapi.checks import positive_data_acceptance

from cogni_edge.openapi import document

if TYPE_CHECKING:
    from tests.edge.conftest import World

SCHEMA = schemathesis.openapi.from_dict(document())
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]

UNSAID = [positive_data_acceptance]
"""What no schema can say: that a question is not blank, that a cursor lies behind."""


def test_every_address_of_the_contract_is_described() -> None:
    assert {operation.label for operation in OPERATIONS} == {
        "POST /v1/turns",
        "POST /v1/agui",
        "GET /v1/runs/{run_ref}/events",
        "POST /v1/runs/{run_ref}/stop",
        "GET /v1/runs/{run_ref}/citations/{handle}",
        "POST /v1/proposals/{proposal_id}/accept",
        "POST /v1/proposals/{proposal_id}/decline",
        "GET /v1/surface",
        "POST /v1/surface",
        "GET /v1/runs/{run_ref}/widgets/{ref}",
        "GET /v1/runs/{run_ref}/rest",
        "POST /v1/runs/{run_ref}/feedback",
        "POST /v1/conversations/{conversation_id}/end",
        "POST /v1/attachments",
        "GET /v1/conversations/{conversation_id}/attachments",
        "POST /v1/conversations/{conversation_id}/attachments",
        "DELETE /v1/conversations/{conversation_id}/attachments/{document_id}",
        "GET /surface/{key_id}",
        "GET /surface/assets/{name}",
        "GET /mount.js",
        "GET /v1/conversations",
        "GET /v1/conversations/{conversation_id}",
        "GET /v1/gaps",
        "GET /v1/event-subscriptions",
        "POST /v1/event-subscriptions",
        "DELETE /v1/event-subscriptions/{subscription_id}",
        "POST /v1/event-subscriptions/{subscription_id}/confirm",
        "POST /v1/event-subscriptions/{subscription_id}/decline",
        "POST /v1/event-subscriptions/{subscription_id}/rotate",
        "GET /v1/event-subscriptions/{subscription_id}/dead",
        "POST /v1/event-subscriptions/{subscription_id}/redrive",
        "GET /healthz",
        "GET /readyz",
        "GET /metrics",
        "GET /openapi.json",
    }


def modes() -> list[object]:
    """Return each operation with good input, and with bad where it takes any; questions the most."""
    found: list[object] = []
    for operation in OPERATIONS:
        examples = 120 if operation.label == "POST /v1/turns" else 30
        takes_input = operation.path.startswith("/v1/")
        for mode in GenerationMode if takes_input else [GenerationMode.POSITIVE]:
            name = f"{operation.label} {mode.value}"
            found.append(pytest.param(operation, mode, examples, id=name))
    return found


@pytest.mark.parametrize(("operation", "mode", "examples"), modes())
async def test_whatever_is_sent_the_answer_is_as_described(
    world: "World",
    served: httpx2.AsyncClient,
    operation: Any,
    mode: GenerationMode,
    examples: int,
) -> None:
    base_url, headers = str(served.base_url).rstrip("/"), world.headers()

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def sent(case: Any) -> None:
        case.call_and_validate(base_url=base_url, headers=headers, excluded_checks=UNSAID)

    await asyncio.to_thread(sent)


async def test_what_is_found_is_as_described_too(world: "World") -> None:
    outcome, proposed = await world.ask(), await world.ask("Book a room for me.")
    charted = (await world.ask("Show a chart."))["run_ref"]
    run, conversation = outcome["run_ref"], outcome["conversation_id"]
    proposal = proposed["proposal"]["id"]
    calls = [
        ("GET", "/v1/runs/{run_ref}/citations/{handle}", f"/v1/runs/{run}/citations/s1"),
        ("GET", "/v1/surface", "/v1/surface?subject_kind=person&subject_id=bob"),
        ("GET", "/v1/runs/{run_ref}/widgets/{ref}", f"/v1/runs/{charted}/widgets/c1"),
        ("GET", "/v1/runs/{run_ref}/widgets/{ref}", f"/v1/runs/{charted}/widgets/c2"),
        ("GET", "/v1/runs/{run_ref}/rest", f"/v1/runs/{run}/rest"),
        ("GET", "/v1/conversations", "/v1/conversations"),
        ("GET", "/v1/conversations/{conversation_id}", f"/v1/conversations/{conversation}"),
        ("POST", "/v1/proposals/{proposal_id}/accept", f"/v1/proposals/{proposal}/accept"),
        ("GET", "/v1/runs/{run_ref}/events", f"/v1/runs/{run}/events"),
        ("POST", "/v1/runs/{run_ref}/stop", f"/v1/runs/{run}/stop"),
    ]

    for method, described, path in calls:
        answer = await world.call(method, path)
        assert answer.status_code in (200, 202)
        SCHEMA[described][method].validate_response(answer)
    for body in ({"message": "How much leave?"}, {"message": "Book a room for me."}):
        answer = await world.call("POST", "/v1/turns", json=body)
        SCHEMA["/v1/turns"]["POST"].validate_response(answer)


async def test_an_answer_that_is_not_as_described_is_caught(world: "World") -> None:
    answer = await world.call("GET", "/v1/conversations")

    with pytest.raises(JsonSchemaError):
        SCHEMA["/v1/turns"]["POST"].validate_response(answer)
