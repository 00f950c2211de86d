"""Profiles: drafts are added, election is a pointer move, rollback the same move backwards."""

from typing import Protocol

from cogni_domain.governance.profiles import AssistantProfile, ProfileContent, ProfileVersion
from cogni_kernel import PrincipalId, Result, TenantId


class ProfileStorePort(Protocol):
    """Implementations must pass `contracts.profile_store.ProfileStoreContract`."""

    async def elected(self, tenant: TenantId, surface_id: str) -> Result[AssistantProfile]:
        """Return the profile that serves a surface, with its elected version.

        Errors:
            NotFoundError: The tenant has no profile with an elected version.
        """
        ...

    async def draft(
        self, tenant: TenantId, profile_id: str, content: ProfileContent, by: PrincipalId
    ) -> Result[ProfileVersion]:
        """Add a version; the first one makes the profile. Nothing serves it before it is elected."""
        ...

    async def elect(
        self, tenant: TenantId, profile_id: str, number: int, by: PrincipalId
    ) -> Result[AssistantProfile]:
        """Point the profile at a version, an older one too.

        Errors:
            NotFoundError: The profile has no such version.
        """
        ...
