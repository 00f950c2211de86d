"""Who a person is to each source, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cogni_domain.access.principal import PrincipalKind
from cogni_kernel import PrincipalId, TenantId


@dataclass(frozen=True, slots=True)
class Tenant:
    """One customer. A disabled one is refused everywhere: the kill switch."""

    id: TenantId
    name: str
    enabled: bool = True


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
    """

    key_id: str
    tenant_id: TenantId
    algorithm: str
    key: str = field(repr=False)
    issuer: str
    audience: str
    loopback_only: bool = False


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
