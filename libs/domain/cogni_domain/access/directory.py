"""Who a person is to each source, as data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cogni_domain.access.principal import PrincipalKind
from cogni_kernel import PrincipalId, TenantId

_ORIGIN = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]{2,39}\])(?::[0-9]{1,5})?"
)


@dataclass(frozen=True, slots=True)
class Tenant:
    """One customer. A disabled one is refused everywhere: the kill switch.

    Attributes:
        surfaces_off: The surfaces that an administrator switched off, by id.
        brand: Tokens of its look, by name; a surface takes those that are valid.
    """

    id: TenantId
    name: str
    enabled: bool = True
    surfaces_off: frozenset[str] = frozenset()
    brand: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Issuer:
    """A key that signs host tokens; the key alone decides the tenant, never a claim.

    Attributes:
        key_id: The `kid` of the token's header, unique across tenants.
        tenant_id: Whose tokens it signs.
        algorithm: RS256, ES256, EdDSA; HS256 for the demo alone.
        key: The public key as PEM or JWK JSON; for HS256 the secret.
        issuer: The `iss` that its tokens must carry.
        audience: The `aud` that its tokens must carry.
        loopback_only: Accept its tokens from this machine alone.
        origins: Which pages may hold a surface in a frame, like `https://intranet.example`; none by default.

    Raises:
        ValueError: An origin is none: it has a path, a wildcard, or capitals.
    """

    key_id: str
    tenant_id: TenantId
    algorithm: str
    key: str = field(repr=False)
    issuer: str
    audience: str
    loopback_only: bool = False
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"an origin is a scheme, a host and perhaps a port: {origin!r}")


@dataclass(frozen=True, slots=True)
class Account:
    """One principal of a tenant as its directory knows it."""

    id: PrincipalId
    tenant_id: TenantId
    kind: PrincipalKind
    display_name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    active: bool = True


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """What a valid token says: its subject, and the machine that acts for it, if any."""

    tenant_id: TenantId
    subject: str
    actor: str | None = None


def account_key(subject: str) -> str:
    """Return the key under which a source's account is found: case-folded, spaces around dropped."""
    return subject.strip().casefold()
