"""From a signed host token to a principal, anew for every request."""

from dataclasses import dataclass
from typing import Protocol

from cogni_domain.access.directory import Account, Tenant, VerifiedClaims
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_kernel import (
    Err,
    GrantKey,
    HumanText,
    NotPermittedError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
)

BAD_TOKEN = HumanText("Your sign-in is not valid any more. Please sign in again.")
DISABLED = HumanText("The assistant is switched off for your organisation. Ask your administrator.")


@dataclass(frozen=True, slots=True)
class HostToken:
    """A token as it came, and whether it came from this machine."""

    value: str
    from_loopback: bool


class NotAuthenticatedError(NotPermittedError):
    """Nobody in particular asks: no token, or one that proves nothing."""


class TenantDisabledError(NotPermittedError):
    """The person is known, the tenant is switched off."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one subject in its tenant, as of one moment; nothing of it counts where the tenant is off."""

    tenant: Tenant | None
    account: Account | None = None
    memberships: Memberships = Memberships(frozenset(), MembershipState.UNKNOWN, 0)  # noqa: RUF009 - a frozen value
    grants: frozenset[GrantKey] = frozenset()


class TokenVerifier(Protocol):
    """Checks a token's signature, times, issuer and audience."""

    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        """Return what the token says, if it can be believed."""
        ...


class Directory(Protocol):
    """What is known of tenants, accounts, groups and grants, as of now."""

    async def tenant(self, tenant: TenantId) -> Result[Tenant | None]:
        """Return the tenant."""
        ...

    async def account(self, tenant: TenantId, subject: str) -> Result[Account | None]:
        """Return the account behind a subject, found by its folded key."""
        ...

    async def account_of(self, tenant: TenantId, principal: PrincipalId) -> Result[Account | None]:
        """Return the account with this id."""
        ...

    async def memberships(self, tenant: TenantId, principal: PrincipalId) -> Result[Memberships]:
        """Return the groups; UNKNOWN where nothing was ever learnt."""
        ...

    async def grants(
        self, tenant: TenantId, principal: PrincipalId, groups: frozenset[str]
    ) -> Result[frozenset[GrantKey]]:
        """Return what was given to the principal or to one of the groups."""
        ...

    async def standing(self, tenant: TenantId, subject: str) -> Result[Standing]:
        """Return all that is known of a subject; a store that can reads it at once."""
        where = await self.tenant(tenant)
        if isinstance(where, Err):
            return where
        if where.value is None or not where.value.enabled:
            return Ok(Standing(where.value))
        account = await self.account(tenant, subject)
        if isinstance(account, Err):
            return account
        if account.value is None:
            return Ok(Standing(where.value))
        memberships = await self.memberships(tenant, account.value.id)
        if isinstance(memberships, Err):
            return memberships
        counted = memberships.value.counted
        grants = await self.grants(tenant, account.value.id, counted)
        return grants.map(
            lambda held: Standing(where.value, account.value, memberships.value, held)
        )


@dataclass(frozen=True, slots=True)
class PrincipalResolver:
    """Resolves who asks. Grants and groups are read per request: a revoked one is gone on the next.

    Source:
        COGNI.BUILD spec, package domain, "PrincipalResolver"; DESIGN D24.
    """

    verifier: TokenVerifier
    directory: Directory
    catalogue: GrantCatalogue

    async def resolve(self, token: HostToken) -> Result[Principal]:
        """Return the principal behind a token.

        Errors:
            NotAuthenticatedError: The token, its subject or its actor cannot be believed.
            TenantDisabledError: The tenant is switched off.
        """
        claims = await self.verifier.verify(token)
        if isinstance(claims, Err):
            return claims
        person = await self._known(claims.value.tenant_id, claims.value.subject)
        if isinstance(person, Err) or claims.value.actor is None:
            return person
        machine = await self._known(claims.value.tenant_id, claims.value.actor)
        if isinstance(machine, Err):
            return machine
        return Ok(_delegated(machine.value, person.value))

    async def current(self, tenant: TenantId, principal: PrincipalId) -> Result[Principal]:
        """Return an active principal by id, as of now: for jobs, which carry the id and no authority.

        Errors:
            NotAuthenticatedError: There is no such active account, or the tenant is switched off.
        """
        found = await self.directory.tenant(tenant)
        if isinstance(found, Err):
            return found
        if found.value is None or not found.value.enabled:
            return Err(NotAuthenticatedError(BAD_TOKEN))
        return await self._principal(await self.directory.account_of(tenant, principal))

    async def _known(self, tenant: TenantId, subject: str) -> Result[Principal]:
        found = await self.directory.standing(tenant, subject)
        if isinstance(found, Err):
            return found
        standing = found.value
        if standing.tenant is None:
            return Err(NotAuthenticatedError(BAD_TOKEN))
        if not standing.tenant.enabled:
            return Err(TenantDisabledError(DISABLED))
        if standing.account is None or not standing.account.active:
            return Err(NotAuthenticatedError(BAD_TOKEN))
        return Ok(self._granted(standing.account, standing.memberships, standing.grants))

    async def _principal(self, account: Result[Account | None]) -> Result[Principal]:
        """Add groups and grants, read now, to an active account."""
        if isinstance(account, Err):
            return account
        if account.value is None or not account.value.active:
            return Err(NotAuthenticatedError(BAD_TOKEN))
        found = account.value
        memberships = await self.directory.memberships(found.tenant_id, found.id)
        if isinstance(memberships, Err):
            return memberships
        counted = memberships.value.counted
        grants = await self.directory.grants(found.tenant_id, found.id, counted)
        return grants.map(lambda held: self._granted(found, memberships.value, held))

    def _granted(
        self, account: Account, memberships: Memberships, grants: frozenset[GrantKey]
    ) -> Principal:
        return Principal(
            id=account.id,
            tenant_id=account.tenant_id,
            kind=account.kind,
            grants=self.catalogue.resolve_implied(grants),
            memberships=memberships,
            attributes=account.attributes,
            display_name=account.display_name,
        )


def _delegated(machine: Principal, person: Principal) -> Principal:
    return Principal(
        id=machine.id,
        tenant_id=machine.tenant_id,
        kind=PrincipalKind.DELEGATED,
        grants=machine.grants & person.grants,
        memberships=machine.memberships,
        attributes=machine.attributes,
        on_behalf_of=person,
        display_name=machine.display_name,
    )
