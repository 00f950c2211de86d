"""The audit log as rows, a chain a tenant."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.tables.events import audit_entries
from cogni_domain.audit import START, AuditEntry, AuditFact, AuditSeal, BrokenChain, Checkpoint
from cogni_domain.ports.audit_log import AuditLogPort
from cogni_kernel import Ok, PrincipalId, Result, TenantId


def append_fact(connection: sa.Connection, fact: AuditFact, seal: AuditSeal) -> AuditEntry:
    """Add a fact in the transaction of what it tells of.

    Of two that come at once, the primary key lets one in; the other's whole transaction fails and may be
    done again.
    """
    query = (
        sa.select(audit_entries.c.number, audit_entries.c.digest)
        .where(audit_entries.c.tenant_id == fact.tenant_id.value)
        .order_by(audit_entries.c.number.desc())
        .limit(1)
    )
    found = connection.execute(query).first()
    entry = seal.next_entry(fact, START if found is None else Checkpoint(*found))
    row = {
        "tenant_id": fact.tenant_id.value,
        "number": entry.number,
        "at": fact.at,
        "actor": fact.actor.value,
        "action": fact.action,
        "subject": fact.subject,
        "facts": dict(fact.facts),
        "digest": entry.digest,
    }
    connection.execute(sa.insert(audit_entries), row)
    return entry


class DatabaseAuditLogAdapter(AuditLogPort):
    """The table refuses changes by triggers; the seal shows those that went around them."""

    def __init__(self, database: Database, seal: AuditSeal) -> None:
        self._database = database
        self._seal = seal

    async def append(self, fact: AuditFact) -> Result[AuditEntry]:
        return await self._database.write(
            lambda connection: Ok(append_fact(connection, fact, self._seal))
        )

    async def entries(
        self, tenant: TenantId, after: int = 0, most: int = 1000
    ) -> Result[Sequence[AuditEntry]]:
        query = _chain(tenant).where(audit_entries.c.number > after).limit(most)
        return await self._database.read(
            lambda connection: Ok([_entry(row) for row in connection.execute(query)])
        )

    async def verify(
        self, tenant: TenantId, kept: Checkpoint = START
    ) -> Result[Checkpoint | BrokenChain]:
        def check(connection: sa.Connection) -> Result[Checkpoint | BrokenChain]:
            rows = connection.execute(_chain(tenant).execution_options(yield_per=1000))
            return Ok(self._seal.verify(map(_entry, rows), kept))

        return await self._database.read(check)


def _chain(tenant: TenantId) -> sa.Select[Any]:
    of_tenant = audit_entries.c.tenant_id == tenant.value
    return sa.select(audit_entries).where(of_tenant).order_by(audit_entries.c.number)


def _entry(row: sa.Row[Any]) -> AuditEntry:
    facts = cast(Mapping[str, str], row.facts)
    fact = AuditFact(
        TenantId(row.tenant_id), row.at, PrincipalId(row.actor), row.action, row.subject, facts
    )
    return AuditEntry(row.number, fact, row.digest)
