"""A subscription takes two administrators, and is never made by anything that a model wrote."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.audit import Checkpoint
from cogni_domain.subscriptions import ADMINISTER_EVENTS, SubscriptionState
from cogni_kernel import (
    ConflictError,
    InvalidArgumentError,
    NotFoundError,
    NotPermittedError,
    Ok,
    TenantId,
)
from cogni_testing.assertions import err, ok

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
URL = "https://hooks.example/in"
TYPES = frozenset({"ToolFailed"})
MAY = ADMINISTER_EVENTS.key
Make = Callable[..., Principal]


async def test_one_asks_and_another_confirms(house: Any) -> None:
    found, secret = ok(await house.service.ask(house.ada, URL, TYPES))
    assert found.state is SubscriptionState.REQUESTED
    assert secret.startswith("whsec_")

    err(await house.service.confirm(house.ada, found.id), ConflictError)
    confirmed = ok(await house.service.confirm(house.bo, found.id))

    assert confirmed.state is SubscriptionState.ACTIVE
    [entry, other] = ok(await house.log.entries(ACME))
    assert (str(entry.fact.actor), entry.fact.action) == ("ada", "asked")
    assert dict(entry.fact.facts) == {"endpoint": "https://hooks.example", "types": "ToolFailed"}
    assert (str(other.fact.actor), other.fact.action) == ("bo", "confirmed")


async def test_every_change_is_in_the_audit_log_and_the_chain_holds(house: Any) -> None:
    identity, _ = await house.subscribed("hooks.example", "ToolFailed")
    ok(await house.service.rotate(house.ada, identity))
    ok(await house.service.redrive(house.bo, identity))
    ok(await house.service.remove(house.bo, identity))
    other, _ = ok(await house.service.ask(house.ada, URL, TYPES))
    ok(await house.service.decline(house.ada, other.id))

    entries = ok(await house.log.entries(ACME))

    assert [e.fact.action for e in entries] == [
        *("asked", "confirmed", "rotated the secret of", "redrove", "removed"),
        *("asked", "declined"),
    ]
    assert ok(await house.log.verify(ACME)) == Checkpoint(7, entries[-1].digest)


async def test_a_secret_is_shown_once_and_kept_nowhere(house: Any) -> None:
    found, secret = ok(await house.service.ask(house.ada, URL, TYPES, "key"))
    again, nothing = ok(await house.service.ask(house.ada, URL, TYPES, "key"))
    _, renewed = await _rotated(house, found.id)

    assert (again.id, nothing) == (found.id, None)
    assert renewed != secret
    dump = "\n".join(await _everything(house))
    for shown in (secret, renewed):
        assert shown not in dump
        assert shown.removeprefix("whsec_") not in dump


async def _rotated(house: Any, identity: str) -> tuple[object, str]:
    ok(await house.service.confirm(house.bo, identity))
    found, secret = ok(await house.service.rotate(house.ada, identity))
    return found, secret


async def _everything(house: Any) -> list[str]:
    def dump(connection: sa.Connection) -> Any:
        raw = connection.connection.driver_connection
        return Ok(list(raw.iterdump()))  # type: ignore[union-attr]

    found: list[str] = ok(await house.database.read(dump))
    return found


async def test_the_same_key_of_another_person_is_another_request(house: Any) -> None:
    first, _ = ok(await house.service.ask(house.ada, URL, TYPES, "key"))
    second, secret = ok(await house.service.ask(house.bo, URL, TYPES, "key"))

    assert first.id != second.id
    assert secret is not None


def strangers(make: Make) -> list[Principal]:
    person = make("ada", MAY)
    return [
        make("carol"),
        make("robot", MAY, kind=PrincipalKind.MACHINE),
        make("agent", MAY, kind=PrincipalKind.DELEGATED, on_behalf_of=person),
        make("nobody", MAY, tenant=None),
    ]


async def test_nobody_but_an_administrator_in_person_does_anything(
    house: Any, principal: Make
) -> None:
    identity, _ = await house.subscribed("hooks.example", "ToolFailed")
    before = await _everything(house)
    service = house.service

    for by in strangers(principal):
        for call in (
            service.ask(by, URL, TYPES),
            service.confirm(by, identity),
            service.decline(by, identity),
            service.remove(by, identity),
            service.rotate(by, identity),
            service.all(by),
            service.dead(by, identity),
            service.redrive(by, identity),
        ):
            err(await call, NotPermittedError)

    assert await _everything(house) == before


async def test_an_administrator_of_another_tenant_finds_nothing(
    house: Any, principal: Make
) -> None:
    identity, _ = await house.subscribed("hooks.example", "ToolFailed")
    eve = principal("eve", MAY, tenant=GLOBEX)
    service = house.service

    for call in (
        service.confirm(eve, identity),
        service.decline(eve, identity),
        service.remove(eve, identity),
        service.rotate(eve, identity),
        service.dead(eve, identity),
        service.redrive(eve, identity),
    ):
        err(await call, NotFoundError)
    assert ok(await service.all(eve)) == []


@pytest.mark.parametrize(
    ("url", "types", "field"),
    [
        ("http://hooks.example/", TYPES, "url"),
        ("https://127.0.0.1/", TYPES, "url"),
        ("https://localhost/", TYPES, "url"),
        ("https://user:word@hooks.example/", TYPES, "url"),
        ("hooks.example", TYPES, "url"),
        (URL, frozenset[str](), "types"),
        (URL, frozenset({"AnswerGiven"}), "types"),
    ],
)
async def test_what_cannot_be_is_refused_and_named(
    house: Any, url: str, types: frozenset[str], field: str
) -> None:
    error = err(await house.service.ask(house.ada, url, types), InvalidArgumentError)

    assert error.detail == {"field": field}
    assert ok(await house.service.all(house.ada)) == []


async def test_what_is_only_asked_for_is_sent_nothing(house: Any) -> None:
    ok(await house.service.ask(house.ada, URL, TYPES))

    assert ok(await house.subscriptions.listening([ACME])) == []
