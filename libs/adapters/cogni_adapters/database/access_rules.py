"""The compound rules of a tenant, found by any token of their clauses."""

from collections.abc import Sequence

import sqlalchemy as sa

from cogni_adapters.database.dialects import insert, packed, texts_named
from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.prepared import fetch
from cogni_adapters.database.tables.knowledge import access_rule_terms, access_rules
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_kernel import Ok, Result, TenantId

_CANDIDATES = sa.select(access_rules.c.rule).where(
    access_rules.c.tenant_id == sa.bindparam("of_tenant"),
    access_rules.c.digest.in_(
        sa.select(access_rule_terms.c.digest).where(
            access_rule_terms.c.tenant_id == sa.bindparam("of_tenant"),
            access_rule_terms.c.token.in_(texts_named("tokens")),
        )
    ),
)


class DatabaseAccessRulesAdapter(AccessRulesPort):
    """Reads the inverted table in one query, anew for every request.

    A rule stays when the last document under it goes: it admits nobody to anything then, and no writer has
    to look for others that need it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def candidates(
        self, tenant: TenantId, tokens: frozenset[ReaderToken]
    ) -> Result[Sequence[AccessRule]]:
        values = {"of_tenant": str(tenant), "tokens": packed(tokens)}

        def work(connection: sa.Connection) -> Result[Sequence[AccessRule]]:
            found = fetch(connection, _CANDIDATES, **values)
            return Ok([AccessRule.from_json(row.rule) for row in found])

        return await self._database.read(work)


def keep_rule(connection: sa.Connection, tenant: TenantId, rule: AccessRule) -> None:
    """Write a compound rule and its terms, unless they are there; any other rule is its tokens alone."""
    if not rule.is_compound:
        return
    key = {"tenant_id": str(tenant), "digest": rule.digest}
    insert_if_new(connection, access_rules, {**key, "rule": rule.to_json()})
    terms = [{**key, "token": token} for token in frozenset().union(*rule.simplified().clauses)]
    if terms:
        statement = insert(connection.dialect.name, access_rule_terms).on_conflict_do_nothing()
        connection.execute(statement, terms)
