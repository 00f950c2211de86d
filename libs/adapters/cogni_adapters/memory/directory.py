"""Tenants, issuers, accounts, groups and grants, in memory."""

from collections.abc import Sequence

from cogni_domain.access.directory import Account, Issuer, Tenant, account_key
from cogni_domain.access.principal import Memberships, MembershipState
from cogni_domain.access.tokens import group_token, user_token
from cogni_domain.ports.directory import DirectoryPort
from cogni_kernel import ConflictError, Err, GrantKey, HumanText, Ok, PrincipalId, Result, TenantId

NEVER_LEARNT = Memberships(frozenset(), MembershipState.UNKNOWN, version=0)

KEY_TAKEN = Err(ConflictError(HumanText("This key id belongs to another tenant.")))
SUBJECT_TAKEN = Err(ConflictError(HumanText("This sign-in name belongs to another account.")))


class MemoryDirectoryAdapter(DirectoryPort):
    """One dictionary each."""

    def __init__(self) -> None:
        self._tenants: dict[TenantId, Tenant] = {}
        self._issuers: dict[str, Issuer] = {}
        self._accounts: dict[tuple[TenantId, PrincipalId], Account] = {}
        self._subjects: dict[tuple[TenantId, str], PrincipalId] = {}
        self._memberships: dict[tuple[TenantId, PrincipalId], Memberships] = {}
        self._grants: dict[tuple[TenantId, str], frozenset[GrantKey]] = {}

    async def tenant(self, tenant: TenantId) -> Result[Tenant | None]:
        return Ok(self._tenants.get(tenant))

    async def issuer(self, key_id: str) -> Result[Issuer | None]:
        return Ok(self._issuers.get(key_id))

    async def account(self, tenant: TenantId, subject: str) -> Result[Account | None]:
        found = self._subjects.get((tenant, account_key(subject)))
        return Ok(None if found is None else self._accounts[tenant, found])

    async def account_of(self, tenant: TenantId, principal: PrincipalId) -> Result[Account | None]:
        return Ok(self._accounts.get((tenant, principal)))

    async def memberships(self, tenant: TenantId, principal: PrincipalId) -> Result[Memberships]:
        return Ok(self._memberships.get((tenant, principal), NEVER_LEARNT))

    async def grants(
        self, tenant: TenantId, principal: PrincipalId, groups: frozenset[str]
    ) -> Result[frozenset[GrantKey]]:
        holders = {user_token(principal), *map(group_token, groups)}
        return Ok(frozenset().union(*(self._grants.get((tenant, h), ()) for h in holders)))

    async def principals(self, tenant: TenantId) -> Result[Sequence[PrincipalId]]:
        return Ok(sorted((p for t, p in self._accounts if t == tenant), key=str))

    async def put_tenant(self, tenant: Tenant) -> Result[None]:
        self._tenants[tenant.id] = tenant
        return Ok(None)

    async def put_issuer(self, issuer: Issuer) -> Result[None]:
        known = self._issuers.get(issuer.key_id)
        if known is not None and known.tenant_id != issuer.tenant_id:
            return KEY_TAKEN
        self._issuers[issuer.key_id] = issuer
        return Ok(None)

    async def put_account(self, account: Account, subject: str) -> Result[None]:
        bound = (account.tenant_id, account_key(subject))
        if self._subjects.get(bound, account.id) != account.id:
            return SUBJECT_TAKEN
        self._subjects[bound] = account.id
        self._accounts[account.tenant_id, account.id] = account
        return Ok(None)

    async def set_memberships(
        self,
        tenant: TenantId,
        principal: PrincipalId,
        groups: frozenset[str],
        state: MembershipState,
    ) -> Result[int]:
        version = self._memberships.get((tenant, principal), NEVER_LEARNT).version + 1
        self._memberships[tenant, principal] = Memberships(groups, state, version)
        return Ok(version)

    async def set_grants(
        self, tenant: TenantId, holder: str, grants: frozenset[GrantKey]
    ) -> Result[None]:
        self._grants[tenant, holder] = grants
        return Ok(None)
