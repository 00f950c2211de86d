from dataclasses import replace
from datetime import timedelta

import pytest

from cogni_adapters.jwt.signer import sign_host_token
from cogni_adapters.jwt.verifier import LEEWAY, JwtTokenVerifierAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_domain.access.directory import Issuer, VerifiedClaims
from cogni_domain.access.resolver import HostToken, NotAuthenticatedError
from cogni_kernel import TenantId
from cogni_testing import FrozenClock, err, ok

ACME = TenantId("acme")
HOUR = timedelta(hours=1)
ISSUER = Issuer(
    key_id="demo",
    tenant_id=ACME,
    algorithm="HS256",
    key="a secret of the demo company, long enough",
    issuer="https://acme.example",
    audience="cogni",
    loopback_only=True,
)


async def test_what_is_signed_is_believed_until_it_ends() -> None:
    directory, clock = MemoryDirectoryAdapter(), FrozenClock()
    ok(await directory.put_issuer(ISSUER))
    verifier = JwtTokenVerifierAdapter(directory, clock)

    token = HostToken(sign_host_token(ISSUER, "Zoë", clock, HOUR, actor="report-bot"), True)

    assert ok(await verifier.verify(token)) == VerifiedClaims(ACME, "Zoë", "report-bot")
    clock.advance(HOUR + LEEWAY)
    err(await verifier.verify(token), NotAuthenticatedError)


async def test_without_an_actor_the_subject_acts_for_itself() -> None:
    directory, clock = MemoryDirectoryAdapter(), FrozenClock()
    ok(await directory.put_issuer(ISSUER))

    token = HostToken(sign_host_token(ISSUER, "alice", clock, HOUR), from_loopback=True)

    assert ok(await JwtTokenVerifierAdapter(directory, clock).verify(token)).actor is None


def test_a_public_key_signs_nothing() -> None:
    with pytest.raises(ValueError, match="cannot sign"):
        sign_host_token(replace(ISSUER, algorithm="RS256"), "alice", FrozenClock(), HOUR)
