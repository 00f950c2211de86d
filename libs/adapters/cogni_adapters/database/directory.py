"""Tenants, issuers, accounts, groups and grants, as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import sqlalchemy as sa

from cogni_adapters.database.dialects import insert, packed, texts_named
from cogni_adapters.database.engine import Database
from cogni_adapters.database.prepared import fetch, fetch_one
from cogni_adapters.database.tables import directory as tables
from cogni_domain.access.directory import Account, Issuer, Tenant, account_key
from cogni_domain.access.principal import Memberships, MembershipState, PrincipalKind
from cogni_domain.access.resolver import Standing
from cogni_domain.access.tokens import group_token, user_token
from cogni_domain.ports.directory import DirectoryPort
from cogni_kernel import ConflictError, Err, GrantKey, HumanText, Ok, PrincipalId, Result, TenantId

KEY_TAKEN = HumanText("This key id belongs to another tenant.")
SUBJECT_TAKEN = HumanText("This sign-in name belongs to another account.")
NEVER_LEARNT = Memberships(frozenset(), MembershipState.UNKNOWN, version=0)

Row: TypeAlias = Mapping[str, object]
Record: TypeAlias = Any

_TENANT = sa.select(tables.tenants).where(tables.tenants.c.id == sa.bindparam("of_tenant"))
_ISSUER = sa.select(tables.issuers).where(tables.issuers.c.key_id == sa.bindparam("key"))
_BY_SUBJECT = (
    sa.select(tables.accounts)
    .select_from(tables.subjects.join(tables.accounts))
    .where(tables.subjects.c.tenant_id == sa.bindparam("of_tenant"))
    .where(tables.subjects.c.key == sa.bindparam("name"))
)
_BY_ID = (
    sa.select(tables.accounts)
    .where(tables.accounts.c.tenant_id == sa.bindparam("of_tenant"))
    .where(tables.accounts.c.id == sa.bindparam("name"))
)
_GROUPS = (
    sa.select(tables.memberships)
    .where(tables.memberships.c.tenant_id == sa.bindparam("of_tenant"))
    .where(tables.memberships.c.principal_id == sa.bindparam("name"))
)
_GRANTS = (
    sa.select(tables.grants.c.grant_key)
    .where(tables.grants.c.tenant_id == sa.bindparam("of_tenant"))
    .where(tables.grants.c.holder.in_(texts_named("holders")))
)


class DatabaseDirectoryAdapter(DirectoryPort):
    """Nothing is kept between two calls: what was taken away is gone on the next.

    Source:
        DESIGN D24.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenant(self, tenant: TenantId) -> Result[Tenant | None]:
        def work(connection: sa.Connection) -> Result[Tenant | None]:
            row = fetch_one(connection, _TENANT, of_tenant=str(tenant))
            return Ok(None if row is None else _tenant(row))

        return await self._database.read(work)

    async def issuer(self, key_id: str) -> Result[Issuer | None]:
        def work(connection: sa.Connection) -> Result[Issuer | None]:
            row = fetch_one(connection, _ISSUER, key=key_id)
            return Ok(None if row is None else _issuer(row))

        return await self._database.read(work)

    async def account(self, tenant: TenantId, subject: str) -> Result[Account | None]:
        return await self._account(_BY_SUBJECT, tenant, account_key(subject))

    async def account_of(self, tenant: TenantId, principal: PrincipalId) -> Result[Account | None]:
        return await self._account(_BY_ID, tenant, str(principal))

    async def _account(
        self, query: sa.Select[*tuple[Any, ...]], tenant: TenantId, name: str
    ) -> Result[Account | None]:
        def work(connection: sa.Connection) -> Result[Account | None]:
            row = fetch_one(connection, query, of_tenant=str(tenant), name=name)
            return Ok(None if row is None else _account(row))

        return await self._database.read(work)

    async def memberships(self, tenant: TenantId, principal: PrincipalId) -> Result[Memberships]:
        def work(connection: sa.Connection) -> Result[Memberships]:
            row = fetch_one(connection, _GROUPS, of_tenant=str(tenant), name=str(principal))
            return Ok(NEVER_LEARNT if row is None else _memberships(row))

        return await self._database.read(work)

    async def standing(self, tenant: TenantId, subject: str) -> Result[Standing]:
        of, key = str(tenant), account_key(subject)

        def work(connection: sa.Connection) -> Result[Standing]:
            where = fetch_one(connection, _TENANT, of_tenant=of)
            if where is None or not where.enabled:
                return Ok(Standing(None if where is None else _tenant(where)))
            account = fetch_one(connection, _BY_SUBJECT, of_tenant=of, name=key)
            if account is None:
                return Ok(Standing(_tenant(where)))
            row = fetch_one(connection, _GROUPS, of_tenant=of, name=account.id)
            memberships = NEVER_LEARNT if row is None else _memberships(row)
            held = _granted(connection, tenant, PrincipalId(account.id), memberships.counted)
            return Ok(Standing(_tenant(where), _account(account), memberships, held))

        return await self._database.read(work)

    async def grants(
        self, tenant: TenantId, principal: PrincipalId, groups: frozenset[str]
    ) -> Result[frozenset[GrantKey]]:
        return await self._database.read(
            lambda connection: Ok(_granted(connection, tenant, principal, groups))
        )

    async def principals(self, tenant: TenantId) -> Result[Sequence[PrincipalId]]:
        query = sa.select(tables.accounts.c.id).filter_by(tenant_id=str(tenant))
        return await self._database.read(
            lambda connection: Ok(sorted(map(PrincipalId, connection.scalars(query)), key=str))
        )

    async def put_tenant(self, tenant: Tenant) -> Result[None]:
        row = {
            "id": str(tenant.id),
            "name": tenant.name,
            "enabled": tenant.enabled,
            "surfaces_off": sorted(tenant.surfaces_off),
            "brand": dict(tenant.brand),
        }

        def work(connection: sa.Connection) -> Result[None]:
            _put(connection, tables.tenants, row)
            return Ok(None)

        return await self._database.write(work)

    async def put_issuer(self, issuer: Issuer) -> Result[None]:
        def work(connection: sa.Connection) -> Result[None]:
            if not _put(connection, tables.issuers, _issuer_row(issuer), unless_other="tenant_id"):
                return Err(ConflictError(KEY_TAKEN))
            return Ok(None)

        return await self._database.write(work)

    async def put_account(self, account: Account, subject: str) -> Result[None]:
        bound = {
            "tenant_id": str(account.tenant_id),
            "key": account_key(subject),
            "account_id": str(account.id),
        }

        def work(connection: sa.Connection) -> Result[None]:
            _put(connection, tables.accounts, _account_row(account))
            if not _put(connection, tables.subjects, bound, unless_other="account_id"):
                return Err(ConflictError(SUBJECT_TAKEN))
            return Ok(None)

        return await self._database.write(work)

    async def set_memberships(
        self,
        tenant: TenantId,
        principal: PrincipalId,
        groups: frozenset[str],
        state: MembershipState,
    ) -> Result[int]:
        table = tables.memberships
        changed = {"groups": sorted(groups), "state": state.value}
        key = {"tenant_id": str(tenant), "principal_id": str(principal)}

        def work(connection: sa.Connection) -> Result[int]:
            statement = insert(connection.dialect.name, table).values(**key, **changed, version=1)
            statement = statement.on_conflict_do_update(
                index_elements=[table.c.tenant_id, table.c.principal_id],
                set_={**changed, "version": table.c.version + 1},
            )
            return Ok(connection.execute(statement.returning(table.c.version)).scalar_one())

        return await self._database.write(work)

    async def set_grants(
        self, tenant: TenantId, holder: str, grants: frozenset[GrantKey]
    ) -> Result[None]:
        key = {"tenant_id": str(tenant), "holder": holder}
        rows = [{**key, "grant_key": str(grant)} for grant in sorted(grants)]

        def work(connection: sa.Connection) -> Result[None]:
            connection.execute(sa.delete(tables.grants).filter_by(**key))
            if rows:
                connection.execute(sa.insert(tables.grants), rows)
            return Ok(None)

        return await self._database.write(work)


def _put(
    connection: sa.Connection, table: sa.Table, row: Row, *, unless_other: str | None = None
) -> bool:
    """Insert or change a row; False where the stored one differs in `unless_other`, which then stays."""
    statement = insert(connection.dialect.name, table).values(**row)
    statement = statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={name: statement.excluded[name] for name in row if not table.c[name].primary_key},
        where=None
        if unless_other is None
        else table.c[unless_other] == statement.excluded[unless_other],
    )
    return connection.execute(statement).rowcount == 1


def _granted(
    connection: sa.Connection, tenant: TenantId, principal: PrincipalId, groups: frozenset[str]
) -> frozenset[GrantKey]:
    holders = packed({user_token(principal), *map(group_token, groups)})
    found = fetch(connection, _GRANTS, of_tenant=str(tenant), holders=holders)
    return frozenset(GrantKey(row.grant_key) for row in found)


def _tenant(row: Record) -> Tenant:
    return Tenant(
        TenantId(row.id),
        row.name,
        row.enabled,
        frozenset(cast(list[str], row.surfaces_off)),
        cast(Mapping[str, str], row.brand),
    )


def _issuer_row(issuer: Issuer) -> Row:
    return {
        "key_id": issuer.key_id,
        "tenant_id": str(issuer.tenant_id),
        "algorithm": issuer.algorithm,
        "key": issuer.key,
        "issuer": issuer.issuer,
        "audience": issuer.audience,
        "loopback_only": issuer.loopback_only,
        "origins": list(issuer.origins),
    }


def _issuer(row: Record) -> Issuer:
    return Issuer(
        row.key_id,
        TenantId(row.tenant_id),
        row.algorithm,
        row.key,
        row.issuer,
        row.audience,
        row.loopback_only,
        tuple(cast(list[str], row.origins)),
    )


def _account_row(account: Account) -> Row:
    return {
        "tenant_id": str(account.tenant_id),
        "id": str(account.id),
        "kind": account.kind.value,
        "display_name": account.display_name,
        "attributes": dict(account.attributes),
        "active": account.active,
    }


def _account(row: Record) -> Account:
    return Account(
        id=PrincipalId(row.id),
        tenant_id=TenantId(row.tenant_id),
        kind=PrincipalKind(row.kind),
        display_name=row.display_name,
        attributes=cast(Mapping[str, str], row.attributes),
        active=row.active,
    )


def _memberships(row: Record) -> Memberships:
    groups = frozenset(cast(list[str], row.groups))
    return Memberships(groups, MembershipState(row.state), row.version)
