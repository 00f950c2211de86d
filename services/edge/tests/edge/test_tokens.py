import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import jwt
import pytest

from cogni_adapters.jwt.signer import sign_host_token
from cogni_domain.access.directory import Account, Tenant
from cogni_domain.access.principal import PrincipalKind
from cogni_kernel import PrincipalId, TenantId
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

LIFETIME = timedelta(minutes=5)
GUARDED = [
    ("POST", "/v1/turns"),
    ("GET", "/v1/runs/r/events"),
    ("POST", "/v1/runs/r/stop"),
    ("GET", "/v1/runs/r/citations/s1"),
    ("POST", "/v1/proposals/p/accept"),
    ("POST", "/v1/proposals/p/decline"),
    ("GET", "/v1/conversations"),
    ("GET", "/v1/conversations/c"),
]


def part(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def unsigned(world: "World", algorithm: str = "none") -> str:
    """Return alice's token with its signature taken off."""
    _, claims, _ = world.token().split(".")
    return f"{part({'alg': algorithm, 'typ': 'JWT', 'kid': 'key-acme'})}.{claims}."


def forged(world: "World") -> str:
    """Return alice's token with hana's name in it."""
    head, _, signature = world.token().split(".")
    return f"{head}.{part({'sub': 'hana'})}.{signature}"


def signed(world: "World", company: str = "acme", subject: str = "alice", **changes: object) -> str:
    """Return a token of an issuer with some of its fields changed."""
    issuer = replace(world.issuers[company], **changes)  # type: ignore[arg-type]
    return sign_host_token(issuer, subject, world.clock, LIFETIME)


def expired(world: "World") -> str:
    token = world.token()
    world.clock.advance(timedelta(hours=1))
    return token


def with_claims(world: "World", **claims: object) -> str:
    issuer = world.issuers["acme"]
    now = int(world.clock.now().timestamp())
    good = {"iss": issuer.issuer, "aud": issuer.audience, "sub": "alice", "exp": now + 60}
    kept = {name: value for name, value in {**good, **claims}.items() if value is not None}
    return jwt.encode(kept, issuer.key, "HS256", headers={"kid": issuer.key_id})


BAD: Mapping[str, Callable[["World"], str]] = {
    "nothing": lambda w: "",
    "no scheme": lambda w: w.token(),
    "another scheme": lambda w: f"Basic {w.token()}",
    "no token": lambda w: "Bearer",
    "spaces": lambda w: "Bearer   ",
    "garbage": lambda w: "Bearer abc",
    "dots": lambda w: "Bearer ..",
    "two tokens": lambda w: f"Bearer {w.token()} {w.token()}",
    "a comma": lambda w: f"Bearer {w.token()}, Bearer {w.token()}",
    "cut": lambda w: f"Bearer {w.token()[:-4]}",
    "tampered": lambda w: f"Bearer {w.token()[:-4]}AAAA",
    "other claims": lambda w: f"Bearer {forged(w)}",
    "huge": lambda w: f"Bearer {w.token()}{'A' * 20_000}",
    "alg none": lambda w: f"Bearer {unsigned(w)}",
    "alg None": lambda w: f"Bearer {unsigned(w, 'None')}",
    "alg RS256": lambda w: f"Bearer {unsigned(w, 'RS256')}",
    "expired": lambda w: f"Bearer {expired(w)}",
    "not yet": lambda w: f"Bearer {with_claims(w, nbf=int(w.clock.now().timestamp()) + 600)}",
    "without end": lambda w: f"Bearer {with_claims(w, exp=None)}",
    "another tenant's key": lambda w: f"Bearer {signed(w, 'acme', key=w.issuers['globex'].key)}",
    "under another tenant's key id": lambda w: f"Bearer {signed(w, 'acme', key_id='key-globex')}",
    "no such key": lambda w: f"Bearer {signed(w, key_id='key-nobody')}",
    "another audience": lambda w: f"Bearer {signed(w, audience='billing')}",
    "another host": lambda w: f"Bearer {signed(w, issuer='https://evil.example')}",
    "nobody known": lambda w: f"Bearer {signed(w, subject='eve')}",
    "another tenant's person": lambda w: f"Bearer {signed(w, subject='mallory')}",
    "no subject": lambda w: f"Bearer {with_claims(w, sub=None)}",
}


@pytest.mark.parametrize("kind", BAD)
async def test_a_token_that_proves_nothing_is_refused(world: "World", kind: str) -> None:
    authorization = BAD[kind](world)
    headers = {"Authorization": authorization} if authorization else {}

    answer = await world.call("GET", "/v1/conversations", None, headers=headers)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Your sign-in is not valid any more. Please sign in again.",
        "status": 401,
    }


@pytest.mark.parametrize(("method", "path"), GUARDED)
async def test_every_address_of_the_contract_asks_who(
    world: "World", method: str, path: str
) -> None:
    answer = await world.call(method, path, None, json={"message": "Hello?"})

    assert answer.status_code == 401
    assert not world.state.runs


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
async def test_a_good_token_is_believed(world: "World", scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {world.token()}"}

    answer = await world.call("GET", "/v1/conversations", None, headers=headers)

    assert answer.status_code == 200


async def test_of_two_tokens_none_is_believed(world: "World") -> None:
    async with world.client() as client:
        headers = [("Authorization", f"Bearer {world.token(p)}") for p in ("alice", "hana")]
        answer = await client.get("/v1/conversations", headers=headers)

    assert answer.status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
async def test_a_key_of_this_machine_is_believed_from_it(world: "World", host: str) -> None:
    async with world.client(host) as client:
        answer = await client.get("/v1/conversations", headers=world.headers())

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "host", ["10.0.0.7", "192.168.1.4", "::ffff:10.0.0.7", "2001:db8::1", "x", ""]
)
async def test_a_key_of_this_machine_is_not_believed_from_another(
    world: "World", host: str
) -> None:
    async with world.client(host) as client:
        answer = await client.get("/v1/conversations", headers=world.headers())

    assert answer.status_code == 401


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"]
)
async def test_nor_through_a_proxy_of_this_machine(world: "World", header: str) -> None:
    answer = await world.call("GET", "/v1/conversations", headers={header: "127.0.0.1"})

    assert answer.status_code == 401


async def test_a_tenant_that_is_switched_off_is_told_so(world: "World") -> None:
    answer = await world.call("GET", "/v1/conversations", "carol")

    assert answer.status_code == 403
    assert answer.json()["title"].startswith("The assistant is switched off")


async def test_switching_off_takes_effect_on_the_next_request(world: "World") -> None:
    assert (await world.call("GET", "/v1/conversations")).status_code == 200

    ok(await world.directory.put_tenant(Tenant(TenantId("acme"), "Acme", enabled=False)))

    assert (await world.call("POST", "/v1/turns", json={"message": "Hello?"})).status_code == 403
    assert (await world.call("GET", "/v1/conversations", "mallory")).status_code == 200


async def test_an_account_that_was_closed_is_nobody(world: "World") -> None:
    account = Account(
        PrincipalId("alice"), TenantId("acme"), PrincipalKind.HUMAN, "Alice", {}, active=False
    )
    ok(await world.directory.put_account(account, "alice"))

    assert (await world.call("GET", "/v1/conversations")).status_code == 401
