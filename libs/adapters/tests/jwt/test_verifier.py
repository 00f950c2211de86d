import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import timedelta
from functools import cache

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from cogni_adapters.jwt.verifier import MAX_CHARACTERS, JwtTokenVerifierAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_domain.access.directory import Issuer, VerifiedClaims
from cogni_domain.access.resolver import BAD_TOKEN, HostToken, NotAuthenticatedError
from cogni_domain.ports.directory import DirectoryPort
from cogni_kernel import Err, HumanText, Result, TenantId, UpstreamError
from cogni_testing import FrozenClock, err, ok
from cogni_testing.contracts.token_verifier import ACME, GLOBEX, TokenVerifierContract

AUDIENCE = "cogni"
SECRET = "a secret of the demo company, long enough"


@cache
def rsa_key(owner: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()


def public_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def an_issuer(
    key_id: str = "acme-key",
    *,
    key: str | None = None,
    algorithm: str = "RS256",
    loopback_only: bool = False,
) -> Issuer:
    tenant = GLOBEX if key_id.startswith("globex") else ACME
    return Issuer(
        key_id=key_id,
        tenant_id=tenant,
        algorithm=algorithm,
        key=key or public_pem(rsa_key(str(tenant))),
        issuer=f"https://{tenant}.example",
        audience=AUDIENCE,
        loopback_only=loopback_only,
    )


def good_claims(issuer: Issuer, clock: FrozenClock) -> dict[str, object]:
    now = int(clock.now().timestamp())
    return {
        "iss": issuer.issuer,
        "aud": issuer.audience,
        "sub": "alice",
        "iat": now,
        "nbf": now,
        "exp": now + 300,
    }


async def verify(
    issuer: Issuer, token: str, clock: FrozenClock | None = None, *, loopback: bool = False
) -> Result[VerifiedClaims]:
    directory = MemoryDirectoryAdapter()
    for known in (an_issuer(), an_issuer("globex-key"), issuer):
        ok(await directory.put_issuer(known))
    verifier = JwtTokenVerifierAdapter(directory, clock or FrozenClock())
    return await verifier.verify(HostToken(token, from_loopback=loopback))


async def refusal(issuer: Issuer, token: str, *, loopback: bool = False) -> str:
    error = err(await verify(issuer, token, loopback=loopback), NotAuthenticatedError)
    assert error.message == BAD_TOKEN
    assert error.model_hint is None
    return str(error.detail["cause"])


def signed(
    claims: Mapping[str, object],
    key: object = None,
    algorithm: str = "RS256",
    headers: Mapping[str, object] | None = None,
) -> str:
    return jwt.encode(
        dict(claims),
        key or rsa_key("acme"),  # type: ignore[arg-type]
        algorithm,
        headers={"kid": "acme-key"} if headers is None else dict(headers),
    )


def by_hand(header: object, claims: object, signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(p).rstrip(b"=").decode() for p in parts)


class TestJwtTokenVerifier(TokenVerifierContract):
    @pytest.fixture(autouse=True)
    async def both_tenants(self) -> None:
        self.directory = MemoryDirectoryAdapter()
        for key_id in ("acme-key", "globex-key"):
            ok(await self.directory.put_issuer(an_issuer(key_id)))

    def make_verifier(self, clock: FrozenClock) -> JwtTokenVerifierAdapter:
        return JwtTokenVerifierAdapter(self.directory, clock)

    def claims(self, tenant: TenantId, clock: FrozenClock) -> dict[str, object]:
        return good_claims(an_issuer(f"{tenant}-key"), clock)

    def sign(self, tenant: TenantId, claims: Mapping[str, object]) -> str:
        return signed(claims, rsa_key(str(tenant)), headers={"kid": f"{tenant}-key"})


KEYS = {
    "RS256 PEM": ("RS256", rsa_key("acme"), public_pem(rsa_key("acme"))),
    "RS256 JWK": ("RS256", rsa_key("acme"), RSAAlgorithm.to_jwk(rsa_key("acme").public_key())),
    "ES256 PEM": ("ES256", EC_KEY, public_pem(EC_KEY)),
    "ES256 JWK": ("ES256", EC_KEY, ECAlgorithm.to_jwk(EC_KEY.public_key())),
    "EdDSA JWK": ("EdDSA", ED_KEY, OKPAlgorithm.to_jwk(ED_KEY.public_key())),
}


@pytest.mark.parametrize("kind", KEYS)
async def test_every_kind_of_key_is_read(kind: str) -> None:
    algorithm, private, public = KEYS[kind]
    issuer = an_issuer(key=str(public), algorithm=algorithm)

    token = signed(good_claims(issuer, FrozenClock()), private, algorithm)

    assert ok(await verify(issuer, token)) == VerifiedClaims(ACME, "alice")


async def test_another_tenants_key_under_my_key_id_is_refused() -> None:
    issuer = an_issuer()
    token = signed(good_claims(issuer, FrozenClock()), rsa_key("globex"))

    assert "Signature" in await refusal(issuer, token)


async def test_another_tenants_token_says_its_own_tenant_whatever_it_claims() -> None:
    claims = good_claims(an_issuer("globex-key"), FrozenClock()) | {"tenant": "acme"}
    token = signed(claims, rsa_key("globex"), headers={"kid": "globex-key"})

    assert ok(await verify(an_issuer(), token)).tenant_id == GLOBEX


async def test_an_audience_of_several_may_hold_ours() -> None:
    issuer = an_issuer()
    claims = good_claims(issuer, FrozenClock())

    ok(await verify(issuer, signed(claims | {"aud": ["other", AUDIENCE]})))
    await refusal(issuer, signed(claims | {"aud": ["other"]}))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None])
async def test_an_unsigned_token_is_refused(algorithm: str | None) -> None:
    header = {"alg": algorithm, "kid": "acme-key", "typ": "JWT"}
    token = by_hand(header, good_claims(an_issuer(), FrozenClock()))

    assert "lgorithm" in await refusal(an_issuer(), token, loopback=True)


async def test_a_public_key_is_never_taken_for_a_secret() -> None:
    issuer = an_issuer()
    claims = good_claims(issuer, FrozenClock())
    body = by_hand({"alg": "HS256", "kid": "acme-key", "typ": "JWT"}, claims).rstrip(".")
    mac = hmac.new(issuer.key.encode(), body.encode(), hashlib.sha256).digest()
    token = f"{body}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"

    assert "Algorithm" in await refusal(issuer, token, loopback=True)
    confused = an_issuer(algorithm="HS256")
    assert "asymmetric key" in await refusal(confused, token, loopback=True)


@pytest.mark.parametrize("algorithm", ["RS512", "PS256", "HS512", "none"])
async def test_an_issuer_with_an_algorithm_beyond_the_list_is_refused(algorithm: str) -> None:
    issuer = an_issuer(algorithm=algorithm)
    token = signed(good_claims(issuer, FrozenClock()))

    assert "the issuer's algorithm" in await refusal(issuer, token)


@pytest.mark.parametrize("algorithm", ["RS384", "PS256"])
async def test_the_algorithm_is_exactly_the_issuers(algorithm: str) -> None:
    token = signed(good_claims(an_issuer(), FrozenClock()), algorithm=algorithm)

    assert "alg" in await refusal(an_issuer(), token)


async def test_a_key_of_another_kind_than_the_issuers_algorithm_is_refused() -> None:
    for public in (public_pem(EC_KEY), str(ECAlgorithm.to_jwk(EC_KEY.public_key())), "no key"):
        issuer = an_issuer(key=public)
        await refusal(issuer, signed(good_claims(issuer, FrozenClock())))


@pytest.mark.parametrize("headers", [{}, {"kid": ""}, {"kid": "nobody's"}])
async def test_a_token_without_a_known_key_id_is_refused(headers: Mapping[str, str]) -> None:
    token = signed(good_claims(an_issuer(), FrozenClock()), headers=headers)

    await refusal(an_issuer(), token)


async def test_a_key_id_that_is_no_text_is_refused() -> None:
    for key_id in (1, None, ["acme-key"], {"a": 1}):
        await refusal(an_issuer(), by_hand({"alg": "RS256", "kid": key_id}, {}))


async def test_a_huge_token_is_refused_before_it_is_read() -> None:
    claims = good_claims(an_issuer(), FrozenClock()) | {"padding": "x" * MAX_CHARACTERS}

    assert "longer than" in await refusal(an_issuer(), signed(claims))
    assert "longer than" in await refusal(an_issuer(), "x" * 10_000_000)


async def test_deep_nesting_and_endless_numbers_are_refused() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 6000).rstrip(b"=").decode()
    await refusal(an_issuer(), f"{deep}.{deep}.AA")
    for huge in (float("inf"), float("nan"), 10**400):
        claims = good_claims(an_issuer(), FrozenClock()) | {"exp": huge}
        await refusal(an_issuer(), signed(claims))


@pytest.mark.parametrize(
    ("claim", "seconds", "believed"),
    [
        ("exp", -29, True),
        ("exp", -30, False),
        ("nbf", 30, True),
        ("nbf", 31, False),
        ("iat", 30, True),
        ("iat", 31, False),
    ],
)
async def test_clocks_may_differ_by_half_a_minute(claim: str, seconds: int, believed: bool) -> None:
    clock = FrozenClock()
    claims = good_claims(an_issuer(), clock) | {claim: int(clock.now().timestamp()) + seconds}

    found = await verify(an_issuer(), signed(claims), clock)

    assert isinstance(found, Err) is not believed


async def test_the_injected_clock_decides_and_not_the_wall() -> None:
    issuer, clock = an_issuer(), FrozenClock()
    clock.advance(timedelta(days=36_500))
    token = signed(good_claims(issuer, clock))

    assert ok(await verify(issuer, token, clock)).subject == "alice"
    err(await verify(issuer, token, FrozenClock()), NotAuthenticatedError)


@pytest.mark.parametrize(
    "issuer",
    [
        pytest.param(an_issuer(loopback_only=True), id="said to be local"),
        pytest.param(an_issuer(key=SECRET, algorithm="HS256"), id="a shared secret"),
    ],
)
async def test_a_local_key_is_believed_on_this_machine_alone(issuer: Issuer) -> None:
    claims = good_claims(issuer, FrozenClock())
    shared = issuer.algorithm == "HS256"
    token = signed(claims, SECRET if shared else None, issuer.algorithm)

    assert ok(await verify(issuer, token, loopback=True)).subject == "alice"
    assert "this machine alone" in await refusal(issuer, token)


async def test_a_secret_that_can_be_guessed_is_refused() -> None:
    issuer = an_issuer(key="short", algorithm="HS256")
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = signed(good_claims(issuer, FrozenClock()), "short", "HS256")

    await refusal(issuer, token, loopback=True)


async def test_a_directory_that_does_not_answer_is_no_bad_token() -> None:
    class Broken(MemoryDirectoryAdapter):
        async def issuer(self, key_id: str) -> Result[Issuer | None]:
            return Err(UpstreamError(HumanText("The database is away.")))

    broken: DirectoryPort = Broken()
    token = signed(good_claims(an_issuer(), FrozenClock()))

    found = await JwtTokenVerifierAdapter(broken, FrozenClock()).verify(
        HostToken(token, from_loopback=False)
    )

    err(found, UpstreamError)


@given(st.text())
async def test_no_text_breaks_the_verifier(text: str) -> None:
    await refusal(an_issuer(), text)


@given(
    st.dictionaries(
        st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk"]),
        st.integers() | st.text() | st.none() | st.booleans() | st.lists(st.text()),
    ),
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
)
async def test_no_header_and_no_claims_break_the_verifier(
    header: Mapping[str, object], claims: object
) -> None:
    await refusal(an_issuer(), by_hand({"kid": "acme-key", "alg": "RS256", **header}, claims, b"x"))
