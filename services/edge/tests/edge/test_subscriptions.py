"""Who is told of events, decided over HTTP by two administrators."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from starlette.applications import Starlette

from cogni_adapters.database.audit import DatabaseAuditLogAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.outbox_deliveries import DatabaseEventDeliveriesAdapter
from cogni_adapters.database.subscriptions import DatabaseEventSubscriptionsAdapter
from cogni_adapters.jwt.verifier import JwtTokenVerifierAdapter
from cogni_adapters.webhook.sealing import AesGcmSecretsAdapter
from cogni_adapters.webhook.sink import WebhookSinkAdapter
from cogni_application.events.subscribing import SubscriptionService
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.resolver import PrincipalResolver
from cogni_domain.access.tokens import user_token
from cogni_domain.audit import AuditSeal
from cogni_domain.subscriptions import ADMINISTER_EVENTS
from cogni_domain.subscriptions_endpoint import EndpointPolicy
from cogni_edge.http import create_app
from cogni_edge.openapi import document
from cogni_kernel import PrincipalId, TenantId
from cogni_runtime.middleware import standard_pipeline
from cogni_testing import SequentialIds, ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

ALL = "/v1/event-subscriptions"
ACME = TenantId("acme")
BODY = {"url": "https://hooks.example/in", "types": ["ToolFailed", "MutationExecuted"]}
SEAL = AuditSeal(b"k" * 32)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path}/cogni.db"
    ok(migrate(url))
    found = Database(url)
    yield found
    await found.close()


@asynccontextmanager
async def no_lifespan(_: Starlette) -> AsyncIterator[None]:
    yield


@pytest.fixture
async def edge(world: "World", database: Database) -> "World":
    """The world, with alice and bob as administrators of events at acme, mallory at globex."""
    for name, tenant in (("alice", ACME), ("bob", ACME), ("mallory", TenantId("globex"))):
        grants = frozenset({ADMINISTER_EVENTS.key})
        ok(await world.directory.set_grants(tenant, user_token(PrincipalId(name)), grants))
    drawn = SequentialIds("32 bytes that nobody can guess")
    service = SubscriptionService(
        DatabaseEventSubscriptionsAdapter(database, SEAL),
        DatabaseEventDeliveriesAdapter(database, SEAL),
        AesGcmSecretsAdapter(b"s" * 32),
        WebhookSinkAdapter(EndpointPolicy()),
        world.clock,
        SequentialIds("s"),
        lambda: drawn().encode(),
    )
    resolver = PrincipalResolver(
        JwtTokenVerifierAdapter(world.directory, world.clock),
        world.directory,
        GrantCatalogue([ADMINISTER_EVENTS]),
    )
    services = replace(world.services, pipeline=standard_pipeline(resolver), subscriptions=service)
    return replace(world, app=create_app(services, no_lifespan))


def as_described(name: str, value: object) -> None:
    """Insist that a value has the schema of that name."""
    components = document()["components"]
    schema = {"$ref": f"#/components/schemas/{name}", "components": components}
    jsonschema_rs.validate(schema, value)


async def asked(edge: "World", **more: Any) -> dict[str, Any]:
    answer = await edge.call("POST", ALL, "alice", json=BODY, **more)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_alice_asks_bob_confirms_and_both_see_it(edge: "World") -> None:
    found = await asked(edge)
    as_described("SubscriptionAsked", found)
    assert (found["state"], found["requested_by"]) == ("requested", "alice")
    assert found["secret"].startswith("whsec_")

    confirmed = await edge.call("POST", f"{ALL}/{found['id']}/confirm", "bob")

    as_described("Subscription", confirmed.json())
    assert (confirmed.json()["state"], confirmed.json()["decided_by"]) == ("active", "bob")
    for person in ("alice", "bob"):
        listed = await edge.call("GET", ALL, person)
        as_described("Subscriptions", listed.json())
        assert listed.json() == {"subscriptions": [confirmed.json()]}
        assert "whsec_" not in listed.text


async def test_alice_cannot_confirm_what_she_asked_for(edge: "World") -> None:
    found = await asked(edge)

    refused = await edge.call("POST", f"{ALL}/{found['id']}/confirm", "alice")

    assert refused.status_code == 409
    assert "Another administrator" in refused.json()["title"]


async def test_asking_twice_with_a_key_asks_once_and_shows_the_secret_once(edge: "World") -> None:
    key = {"Idempotency-Key": "k1"}
    first = await asked(edge, headers=key)
    second = await asked(edge, headers=key)

    assert second == {**first, "secret": None}
    assert len((await edge.call("GET", ALL)).json()["subscriptions"]) == 1


async def test_a_secret_is_rotated_and_shown_once(edge: "World") -> None:
    found = await asked(edge)
    await edge.call("POST", f"{ALL}/{found['id']}/confirm", "bob")

    rotated = await edge.call("POST", f"{ALL}/{found['id']}/rotate", "bob")

    as_described("SubscriptionAsked", rotated.json())
    assert rotated.json()["secret"] not in (None, found["secret"])


async def test_dead_letters_are_listed_and_tried_again(edge: "World") -> None:
    found = await asked(edge)
    await edge.call("POST", f"{ALL}/{found['id']}/confirm", "bob")

    dead = await edge.call("GET", f"{ALL}/{found['id']}/dead")
    again = await edge.call("POST", f"{ALL}/{found['id']}/redrive", json={"events": ["ab12"]})

    as_described("DeadDeliveries", dead.json())
    as_described("Redriven", again.json())
    assert again.json() == {"redriven": 0}


async def test_one_administrator_ends_it(edge: "World") -> None:
    found = await asked(edge)
    declined = await edge.call("POST", f"{ALL}/{found['id']}/decline", "alice")
    assert declined.json()["state"] == "declined"

    other = await asked(edge)
    await edge.call("POST", f"{ALL}/{other['id']}/confirm", "bob")
    removed = await edge.call("DELETE", f"{ALL}/{other['id']}", "alice")
    assert removed.json()["state"] == "removed"


CALLS = [
    ("GET", "", None),
    ("POST", "", BODY),
    ("DELETE", "/{id}", None),
    ("POST", "/{id}/confirm", None),
    ("POST", "/{id}/decline", None),
    ("POST", "/{id}/rotate", None),
    ("GET", "/{id}/dead", None),
    ("POST", "/{id}/redrive", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_whoever_administers_nothing_is_told_of_nothing(
    edge: "World", database: Database, method: str, path: str, body: object
) -> None:
    found = await asked(edge)
    log = DatabaseAuditLogAdapter(database, SEAL)
    before = ok(await log.entries(ACME))

    for person, real in (("hana", found["id"]), ("mallory", found["id"]), ("hana", "never")):
        if person == "mallory" and "{id}" not in path:
            continue
        answer = await edge.call(method, ALL + path.format(id=real), person, json=body)
        assert answer.status_code == 404
        assert answer.json()["title"].startswith("There is nothing here")
    nobody = await edge.call(method, ALL + path.format(id=found["id"]), None, json=body)
    assert nobody.status_code == 401

    assert ok(await log.entries(ACME)) == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**BODY, "url": "http://hooks.example/"}, "url"),
        ({**BODY, "url": "https://169.254.169.254/latest"}, "url"),
        ({**BODY, "url": "https://" + "a" * 600}, "url"),
        ({**BODY, "types": []}, "types"),
        ({**BODY, "types": ["Everything"]}, "types"),
        ({**BODY, "grants": ["*"]}, "grants"),
        ({"types": BODY["types"]}, "url"),
    ],
)
async def test_what_cannot_be_is_refused_and_the_field_named(
    edge: "World", body: object, field: str
) -> None:
    answer = await edge.call("POST", ALL, json=body)

    assert (answer.status_code, answer.json()["field"]) == (422, field)


async def test_where_no_events_leave_there_is_nothing(world: "World") -> None:
    assert (await world.call("GET", ALL)).status_code == 404
