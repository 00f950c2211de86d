"""Compound rules of the documents in memory."""

from collections.abc import Sequence

from cogni_adapters.memory.state import MemoryState
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_kernel import Ok, Result, TenantId


class MemoryAccessRulesAdapter(AccessRulesPort):
    """Reads the rules off the documents themselves."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def candidates(
        self, tenant: TenantId, tokens: frozenset[ReaderToken]
    ) -> Result[Sequence[AccessRule]]:
        rules = {
            document.rule.digest: document.rule.simplified()
            for (of, _), document in self._state.documents.items()
            if of == tenant and document.rule.is_compound
        }
        return Ok(
            [
                rules[digest]
                for digest in sorted(rules)
                if any(clause & tokens for clause in rules[digest].clauses)
            ]
        )
