"""Profiles and their versions in rows."""

from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.prepared import fetch_one
from cogni_adapters.database.profile_content import content_of, content_payload
from cogni_adapters.database.tables.work import profile_versions, profiles
from cogni_domain.governance.profiles import (
    DEFAULT_PROFILE,
    AssistantProfile,
    ProfileContent,
    ProfileVersion,
)
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_kernel import Err, HumanText, NotFoundError, Ok, PrincipalId, Result, TenantId

NO_PROFILE = HumanText("No assistant is set up here yet. An administrator has to elect a profile.")
NO_SUCH_VERSION = HumanText("This profile has no such version.")

_SERVING = sa.select(
    profiles.c.name,
    profile_versions.c.tenant_id,
    profile_versions.c.profile_id,
    profile_versions.c.number,
    profile_versions.c.content,
    profile_versions.c.created_by,
    profile_versions.c.created_at,
).join_from(
    profiles,
    profile_versions,
    (profile_versions.c.tenant_id == profiles.c.tenant_id)
    & (profile_versions.c.profile_id == profiles.c.id)
    & (profile_versions.c.number == profiles.c.elected),
)

_OF_SURFACE = (
    _SERVING.where(
        profiles.c.tenant_id == sa.bindparam("of_tenant"),
        sa.or_(profiles.c.id == sa.bindparam("surface"), profiles.c.id == DEFAULT_PROFILE),
    )
    .order_by(sa.case((profiles.c.id == sa.bindparam("surface"), 0), else_=1))
    .limit(1)
)


class DatabaseProfileStoreAdapter(ProfileStorePort):
    """A surface is served by the profile of its own name, or else by `DEFAULT_PROFILE`.

    Source:
        COGNI.BUILD spec, package domain, "AssistantProfile".
    """

    def __init__(self, database: Database, clock: ClockPort) -> None:
        self._database = database
        self._clock = clock

    async def elected(self, tenant: TenantId, surface_id: str) -> Result[AssistantProfile]:
        def find(connection: sa.Connection) -> Result[AssistantProfile]:
            row = fetch_one(connection, _OF_SURFACE, of_tenant=tenant.value, surface=surface_id)
            return Err(NotFoundError(NO_PROFILE)) if row is None else Ok(_profile(row))

        return await self._database.read(find)

    async def draft(
        self, tenant: TenantId, profile_id: str, content: ProfileContent, by: PrincipalId
    ) -> Result[ProfileVersion]:
        now = self._clock.now()

        def add(connection: sa.Connection) -> Result[ProfileVersion]:
            number = _next_number(connection, tenant, profile_id)
            row = {
                "tenant_id": tenant.value,
                "profile_id": profile_id,
                "number": number,
                "content": content_payload(content),
                "created_by": by.value,
                "created_at": now,
            }
            connection.execute(sa.insert(profile_versions), row)
            return Ok(ProfileVersion(profile_id, tenant, number, content, by, now))

        return await self._database.write(add)

    async def elect(
        self, tenant: TenantId, profile_id: str, number: int, by: PrincipalId
    ) -> Result[AssistantProfile]:
        values = {"elected": number, "elected_by": by.value, "elected_at": self._clock.now()}
        exists = sa.exists().where(
            profile_versions.c.tenant_id == profiles.c.tenant_id,
            profile_versions.c.profile_id == profiles.c.id,
            profile_versions.c.number == number,
        )
        its = (profiles.c.tenant_id == tenant.value) & (profiles.c.id == profile_id)

        def point(connection: sa.Connection) -> Result[AssistantProfile]:
            moved = connection.execute(sa.update(profiles).where(its, exists).values(values))
            if moved.rowcount != 1:
                return Err(NotFoundError(NO_SUCH_VERSION))
            return Ok(_profile(connection.execute(_SERVING.where(its)).one()))

        return await self._database.write(point)


def _next_number(connection: sa.Connection, tenant: TenantId, profile_id: str) -> int:
    """Count the profile's versions on, which keeps other drafts waiting; make it where it is new."""
    row = {"tenant_id": tenant.value, "id": profile_id, "name": profile_id, "versions": 0}
    insert_if_new(connection, profiles, row)
    number: int = connection.execute(
        sa.update(profiles)
        .where(profiles.c.tenant_id == tenant.value, profiles.c.id == profile_id)
        .values(versions=profiles.c.versions + 1)
        .returning(profiles.c.versions)
    ).scalar_one()
    return number


def _profile(row: sa.Row[*tuple[Any, ...]]) -> AssistantProfile:
    tenant = TenantId(row.tenant_id)
    version = ProfileVersion(
        row.profile_id,
        tenant,
        row.number,
        content_of(row.content),
        PrincipalId(row.created_by),
        row.created_at,
    )
    return AssistantProfile(row.profile_id, tenant, row.name, version)
