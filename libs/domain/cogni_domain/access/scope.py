"""What one principal may read. The ONLY module that builds an access predicate."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cogni_domain.access.predicate import All, Eq, OneOf, Overlaps, Predicate
from cogni_domain.access.principal import MembershipState, Principal
from cogni_domain.access.rule import AccessRule, rule_token
from cogni_domain.access.tokens import ReaderToken
from cogni_kernel import CorpusId, Err, HumanText, NotPermittedError, Ok, Result, TenantId

MAX_TOKENS = 10_000

NO_ACCESS = HumanText("You don't have access to this assistant. Ask your administrator.")
TOO_MANY = HumanText(
    "Your account is in more groups than can be searched safely. Ask your administrator to reduce them."
)


@dataclass(frozen=True, slots=True)
class Scope:
    """A principal's reach for one request.

    Attributes:
        tenant_id: The one tenant.
        principal: Whose reach it is.
        corpora: Where it may look.
        predicate: What every store filters on, INSIDE its query.
    """

    tenant_id: TenantId
    principal: Principal
    corpora: frozenset[CorpusId]
    predicate: Predicate

    @property
    def digest(self) -> str:
        """A name for the predicate, for run records: the same reach has the same digest."""
        return hashlib.sha256(_canonical(self.predicate).encode()).hexdigest()[:32]


class CompoundRules(Protocol):
    """Where the compound rules of a tenant are found."""

    async def candidates(
        self, tenant: TenantId, tokens: frozenset[ReaderToken]
    ) -> Result[Sequence[AccessRule]]:
        """Return at least every compound rule with a clause that shares a token with `tokens`."""
        ...


@dataclass(frozen=True, slots=True)
class ScopePolicy:
    """Turns a principal into a scope, or refuses. Nothing is kept between requests.

    Source:
        COGNI.BUILD spec, package domain, "ScopePolicy"; DESIGN D2.
    """

    rules: CompoundRules

    async def resolve(self, principal: Principal, corpora: Iterable[CorpusId]) -> Result[Scope]:
        """Return what `principal` may read of `corpora`.

        Errors:
            NotPermittedError: No tenant, groups unknown, or more tokens than can be filtered on.
        """
        tenant = principal.tenant_id
        if tenant is None or any(p.tenant_id != tenant for p in principal.parties()):
            return Err(NotPermittedError(NO_ACCESS))
        if any(p.memberships.state is MembershipState.UNKNOWN for p in principal.parties()):
            return Err(NotPermittedError(NO_ACCESS))
        satisfied = await self._satisfied(tenant, principal)
        if isinstance(satisfied, Err):
            return satisfied
        tokens = principal.tokens() | satisfied.value
        if len(tokens) > MAX_TOKENS:
            return Err(NotPermittedError(TOO_MANY, detail={"tokens": len(tokens)}))
        places = frozenset(corpora)
        return Ok(Scope(tenant, principal, places, _predicate(tenant, places, tokens)))

    async def _satisfied(
        self, tenant: TenantId, principal: Principal
    ) -> Result[frozenset[ReaderToken]]:
        parties = [party.own_tokens() for party in principal.parties()]
        found = await self.rules.candidates(tenant, frozenset.union(*parties))
        if isinstance(found, Err):
            return found
        return Ok(
            frozenset(
                rule_token(rule)
                for rule in found.value
                if all(rule.admits(tokens) for tokens in parties)
            )
        )


def _predicate(
    tenant: TenantId, corpora: frozenset[CorpusId], tokens: frozenset[ReaderToken]
) -> Predicate:
    return All(
        (
            Eq("tenant", str(tenant)),
            OneOf("corpus", frozenset(map(str, corpora))),
            Overlaps("readers", frozenset(tokens)),
        )
    )


def _canonical(predicate: Predicate) -> str:
    match predicate:
        case Eq(field, value):
            return f"eq({field!r},{value!r})"
        case All(parts):
            return f"all({','.join(map(_canonical, parts))})"
        case _:
            return f"{type(predicate).__name__}({predicate.field!r},{sorted(predicate.values)!r})"
