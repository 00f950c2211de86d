"""Believing a host's token: by the key that signed it, and by nothing that it says of itself."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

import jwt

from cogni_domain.access.directory import Issuer, VerifiedClaims
from cogni_domain.access.resolver import BAD_TOKEN, HostToken, NotAuthenticatedError
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.token_verifier import TokenVerifierPort
from cogni_kernel import Err, HumanText, Ok, Result

ALGORITHMS = frozenset({"RS256", "ES256", "EdDSA", "HS256"})
SHARED_SECRET = "HS256"  # noqa: S105 - an algorithm's name
LEEWAY = timedelta(seconds=30)
"""How far the host's clock may be from ours."""

MAX_CHARACTERS = 16_384

_UNBELIEVABLE = (jwt.PyJWTError, ValueError, TypeError, RecursionError, OverflowError)


class JwtTokenVerifierAdapter(TokenVerifierPort):
    """Finds the issuer by the header's `kid`; the issuer says the tenant, the key and the one algorithm.

    Whatever is wrong, the answer is the same NotAuthenticatedError; its detail says what it was.

    Source:
        RFC 7519, RFC 8725; RFC 8693 for `act`; DESIGN D24.
    """

    def __init__(self, directory: DirectoryPort, clock: ClockPort) -> None:
        self._directory = directory
        self._clock = clock

    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        try:
            key_id = _key_id(token.value)
        except _UNBELIEVABLE as cause:
            return _refused(cause)
        issuer = await self._directory.issuer(key_id)
        if isinstance(issuer, Err):
            return issuer
        if issuer.value is None:
            return _refused(ValueError(f"no issuer has the key {key_id!r}"))
        try:
            return Ok(_believed(token, issuer.value, self._clock.now()))
        except _UNBELIEVABLE as cause:
            return _refused(cause)


def _key_id(token: str) -> str:
    if len(token) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS} characters")
    key_id = jwt.get_unverified_header(token).get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise ValueError("the header has no kid")
    return key_id


def _believed(token: HostToken, issuer: Issuer, now: datetime) -> VerifiedClaims:
    local_alone = issuer.loopback_only or issuer.algorithm == SHARED_SECRET
    if local_alone and not token.from_loopback:
        raise ValueError("this key is believed on this machine alone")
    if issuer.algorithm not in ALGORITHMS:
        raise ValueError(f"the issuer's algorithm is {issuer.algorithm}")
    claims = _signed_claims(token.value, issuer)
    _check_times(claims, now.timestamp())
    actor = claims.get("act")
    return VerifiedClaims(
        tenant_id=issuer.tenant_id,
        subject=_name(claims, "sub"),
        actor=None if actor is None else _name(actor, "sub"),
    )


def _signed_claims(token: str, issuer: Issuer) -> Mapping[str, object]:
    """Return the claims after the signature, `iss` and `aud` are checked; times are ours to judge."""
    is_jwk = issuer.key.lstrip().startswith("{")
    key = jwt.PyJWK.from_json(issuer.key, issuer.algorithm) if is_jwk else issuer.key
    claims: Mapping[str, object] = jwt.decode(
        token,
        key,
        algorithms=[issuer.algorithm],
        issuer=issuer.issuer,
        audience=issuer.audience,
        options={
            "require": ["iss", "aud", "exp", "sub"],
            "verify_exp": False,
            "verify_nbf": False,
            "verify_iat": False,
            "enforce_minimum_key_length": True,
        },
    )
    return claims


def _check_times(claims: Mapping[str, object], now: float) -> None:
    leeway = LEEWAY.total_seconds()
    if now >= _moment(claims, "exp") + leeway:
        raise ValueError("it has expired")
    for name in ("nbf", "iat"):
        if name in claims and now < _moment(claims, name) - leeway:
            raise ValueError(f"its {name} lies ahead")


def _moment(claims: Mapping[str, object], name: str) -> float:
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"its {name} is no time")
    return float(value)


def _name(claims: object, name: str) -> str:
    value = claims.get(name) if isinstance(claims, Mapping) else None
    if not isinstance(value, str) or HumanText(value).is_blank():
        raise ValueError(f"its {name} names nobody")
    return value


def _refused(cause: Exception) -> Err:
    detail = {"cause": f"{type(cause).__name__}: {cause}"}
    return Err(NotAuthenticatedError(BAD_TOKEN, detail=detail))
