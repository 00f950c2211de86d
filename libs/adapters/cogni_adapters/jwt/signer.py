"""Host tokens of the demo company, which is its own host."""

from datetime import timedelta

import jwt

from cogni_adapters.jwt.verifier import SHARED_SECRET
from cogni_domain.access.directory import Issuer
from cogni_domain.ports.clock import ClockPort


def sign_host_token(
    issuer: Issuer,
    subject: str,
    clock: ClockPort,
    lifetime: timedelta,
    actor: str | None = None,
) -> str:
    """Return a token for `subject`, valid from now on; with an actor, that machine acts for the subject.

    Raises:
        ValueError: The issuer's key is a public one; only a shared secret can sign here.
    """
    if issuer.algorithm != SHARED_SECRET:
        raise ValueError(f"a public {issuer.algorithm} key cannot sign")
    now = clock.now()
    claims: dict[str, object] = {
        "iss": issuer.issuer,
        "aud": issuer.audience,
        "sub": subject,
        "iat": int(now.timestamp()),
        "exp": int((now + lifetime).timestamp()),
    }
    if actor is not None:
        claims["act"] = {"sub": actor}
    return jwt.encode(claims, issuer.key, issuer.algorithm, headers={"kid": issuer.key_id})
