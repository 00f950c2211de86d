"""Profiles and their versions, in memory."""

from cogni_domain.governance.profiles import (
    DEFAULT_PROFILE,
    AssistantProfile,
    ProfileContent,
    ProfileVersion,
)
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_kernel import Err, HumanText, NotFoundError, Ok, PrincipalId, Result, TenantId

NO_PROFILE = Err(NotFoundError(HumanText("The assistant is not set up yet. Elect a profile.")))
NO_VERSION = Err(NotFoundError(HumanText("The profile has no such version.")))


class MemoryProfileStoreAdapter(ProfileStorePort):
    """A surface is served by the profile of its name, else by the default one."""

    def __init__(self, clock: ClockPort) -> None:
        self._clock = clock
        self._versions: dict[tuple[TenantId, str], list[ProfileVersion]] = {}
        self._elected: dict[tuple[TenantId, str], ProfileVersion] = {}

    async def elected(self, tenant: TenantId, surface_id: str) -> Result[AssistantProfile]:
        for profile in (surface_id, DEFAULT_PROFILE):
            if (chosen := self._elected.get((tenant, profile))) is not None:
                return Ok(AssistantProfile(profile, tenant, profile, chosen))
        return NO_PROFILE

    async def draft(
        self, tenant: TenantId, profile_id: str, content: ProfileContent, by: PrincipalId
    ) -> Result[ProfileVersion]:
        versions = self._versions.setdefault((tenant, profile_id), [])
        number = len(versions) + 1
        version = ProfileVersion(profile_id, tenant, number, content, by, self._clock.now())
        versions.append(version)
        return Ok(version)

    async def elect(
        self,
        tenant: TenantId,
        profile_id: str,
        number: int,
        by: PrincipalId,  # noqa: ARG002 - no port reads who elected
    ) -> Result[AssistantProfile]:
        versions = self._versions.get((tenant, profile_id), [])
        if not 1 <= number <= len(versions):
            return NO_VERSION
        chosen = versions[number - 1]
        self._elected[tenant, profile_id] = chosen
        return Ok(AssistantProfile(profile_id, tenant, profile_id, chosen))
