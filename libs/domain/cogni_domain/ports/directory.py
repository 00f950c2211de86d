"""Tenants, issuers, accounts, groups and grants."""

from collections.abc import Sequence
from typing import Protocol

from cogni_domain.access.directory import Account, Issuer, Tenant
from cogni_domain.access.principal import MembershipState
from cogni_domain.access.resolver import Directory
from cogni_kernel import GrantKey, PrincipalId, Result, TenantId


class DirectoryPort(Directory, Protocol):
    """Implementations must pass `contracts.directory.DirectoryContract`."""

    async def issuer(self, key_id: str) -> Result[Issuer | None]:
        """Return the issuer whose key has this id."""
        ...

    async def principals(self, tenant: TenantId) -> Result[Sequence[PrincipalId]]:
        """Return everybody of a tenant who has an account, in order."""
        ...

    async def put_tenant(self, tenant: Tenant) -> Result[None]:
        """Create a tenant or change it; `enabled=False` is the kill switch."""
        ...

    async def put_issuer(self, issuer: Issuer) -> Result[None]:
        """Create an issuer or replace its key.

        Errors:
            ConflictError: The key id belongs to another tenant.
        """
        ...

    async def put_account(self, account: Account, subject: str) -> Result[None]:
        """Create an account or change it, and bind a subject to it.

        Errors:
            ConflictError: The folded subject belongs to another account of the tenant.
        """
        ...

    async def set_memberships(
        self,
        tenant: TenantId,
        principal: PrincipalId,
        groups: frozenset[str],
        state: MembershipState,
    ) -> Result[int]:
        """Replace a principal's groups; return the new version."""
        ...

    async def set_grants(
        self, tenant: TenantId, holder: str, grants: frozenset[GrantKey]
    ) -> Result[None]:
        """Replace what a holder was given; a holder is a reader token, `u:41` or `g:directory/hr`."""
        ...
