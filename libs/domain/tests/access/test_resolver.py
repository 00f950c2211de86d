"""A principal is resolved anew for every request, or refused."""

from dataclasses import dataclass, field

import pytest

from cogni_domain.access.directory import Account, Tenant, VerifiedClaims, account_key
from cogni_domain.access.grants import Grant, GrantCatalogue
from cogni_domain.access.principal import Memberships, MembershipState, PrincipalKind
from cogni_domain.access.resolver import (
    BAD_TOKEN,
    DISABLED,
    Directory,
    HostToken,
    NotAuthenticatedError,
    PrincipalResolver,
    TenantDisabledError,
    TokenVerifier,
)
from cogni_kernel import Err, GrantKey, HumanText, Ok, PrincipalId, Result, TenantId, UpstreamError
from cogni_testing import err, ok

ACME = TenantId("acme")
READ, WRITE, ADMIN = GrantKey("read"), GrantKey("write"), GrantKey("admin")
DOWN = Err(UpstreamError(HumanText("It does not answer.")))
FORGED = Err(NotAuthenticatedError(BAD_TOKEN))


def an_account(
    name: str, kind: PrincipalKind = PrincipalKind.HUMAN, *, active: bool = True
) -> Account:
    return Account(PrincipalId(name), ACME, kind, name.title(), {"region": "eu"}, active)


@dataclass
class FakeDirectory(Directory):
    tenants: dict[TenantId, Tenant] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    groups: dict[str, Memberships] = field(default_factory=dict)
    given: dict[str, frozenset[GrantKey]] = field(default_factory=dict)
    down: str = ""

    async def tenant(self, tenant: TenantId) -> Result[Tenant | None]:
        return DOWN if self.down == "tenant" else Ok(self.tenants.get(tenant))

    async def account(self, tenant: TenantId, subject: str) -> Result[Account | None]:
        return DOWN if self.down == "account" else Ok(self.accounts.get(account_key(subject)))

    async def account_of(self, tenant: TenantId, principal: PrincipalId) -> Result[Account | None]:
        return DOWN if self.down == "account" else Ok(self.accounts.get(str(principal)))

    async def memberships(self, tenant: TenantId, principal: PrincipalId) -> Result[Memberships]:
        if self.down == "memberships":
            return DOWN
        unknown = Memberships(frozenset(), MembershipState.UNKNOWN, 0)
        return Ok(self.groups.get(str(principal), unknown))

    async def grants(
        self, tenant: TenantId, principal: PrincipalId, groups: frozenset[str]
    ) -> Result[frozenset[GrantKey]]:
        if self.down == "grants":
            return DOWN
        holders = (str(principal), *groups)
        return Ok(frozenset().union(*(self.given.get(h, frozenset()) for h in holders)))


@dataclass
class Claims(TokenVerifier):
    answer: Result[VerifiedClaims]

    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        return self.answer


def a_directory() -> FakeDirectory:
    known = MembershipState.KNOWN
    return FakeDirectory(
        {ACME: Tenant(ACME, "Acme")},
        {"alice": an_account("alice"), "robot": an_account("robot", PrincipalKind.MACHINE)},
        {
            "alice": Memberships(frozenset({"wiki/hr"}), known, 7),
            "robot": Memberships(frozenset(), known, 1),
        },
        {"alice": frozenset({READ}), "wiki/hr": frozenset({ADMIN}), "robot": frozenset({READ})},
    )


def a_resolver(
    directory: Directory, answer: Result[VerifiedClaims] | None = None
) -> PrincipalResolver:
    grants = [
        Grant(READ, HumanText("Read"), HumanText("Read.")),
        Grant(WRITE, HumanText("Write"), HumanText("Write.")),
        Grant(ADMIN, HumanText("All"), HumanText("All."), frozenset({WRITE})),
    ]
    claims = answer or Ok(VerifiedClaims(ACME, " ALICE "))
    return PrincipalResolver(Claims(claims), directory, GrantCatalogue(grants))


TOKEN = HostToken("token", from_loopback=True)


async def test_a_person_has_the_groups_and_grants_of_now() -> None:
    directory = a_directory()
    resolver = a_resolver(directory)

    alice = ok(await resolver.resolve(TOKEN))
    assert (alice.id, alice.tenant_id, alice.kind) == (
        PrincipalId("alice"),
        ACME,
        PrincipalKind.HUMAN,
    )
    assert alice.grants == {READ, ADMIN, WRITE}
    assert (alice.memberships.version, alice.attributes) == (7, {"region": "eu"})

    directory.given.clear()
    directory.groups["alice"] = Memberships(frozenset(), MembershipState.KNOWN, 8)
    later = ok(await resolver.resolve(TOKEN))
    assert (later.grants, later.memberships.version) == (frozenset(), 8)


async def test_groups_that_are_unknown_give_no_grant() -> None:
    directory = a_directory()
    unknown = Memberships(frozenset({"wiki/hr"}), MembershipState.UNKNOWN, 7)
    directory.groups["alice"] = unknown

    assert ok(await a_resolver(directory).resolve(TOKEN)).grants == {READ}


async def test_a_machine_that_acts_for_a_person_holds_what_both_hold() -> None:
    claims = Ok(VerifiedClaims(ACME, "alice", actor="robot"))

    delegate = ok(await a_resolver(a_directory(), claims).resolve(TOKEN))

    assert delegate.kind is PrincipalKind.DELEGATED
    assert delegate.id == PrincipalId("robot")
    assert delegate.on_behalf_of == ok(await a_resolver(a_directory()).resolve(TOKEN))
    assert delegate.grants == {READ}


@pytest.mark.parametrize(
    "claims",
    [
        VerifiedClaims(TenantId("globex"), "alice"),
        VerifiedClaims(ACME, "mallory"),
        VerifiedClaims(ACME, "alice", actor="mallory"),
        VerifiedClaims(ACME, "mallory", actor="robot"),
        VerifiedClaims(ACME, "closed"),
        VerifiedClaims(ACME, "alice", actor="closed"),
    ],
    ids=["tenant", "subject", "actor", "subject of an actor", "closed account", "closed actor"],
)
async def test_who_cannot_be_believed_is_refused(claims: VerifiedClaims) -> None:
    directory = a_directory()
    directory.accounts["closed"] = an_account("closed", active=False)

    refused = await a_resolver(directory, Ok(claims)).resolve(TOKEN)

    assert err(refused, NotAuthenticatedError).message == BAD_TOKEN


async def test_a_token_that_proves_nothing_is_refused_as_it_is() -> None:
    assert await a_resolver(a_directory(), FORGED).resolve(TOKEN) == FORGED


async def test_a_tenant_that_is_switched_off_is_refused_everywhere() -> None:
    directory = a_directory()
    directory.tenants[ACME] = Tenant(ACME, "Acme", enabled=False)
    resolver = a_resolver(directory)

    assert err(await resolver.resolve(TOKEN), TenantDisabledError).message == DISABLED
    err(await resolver.current(ACME, PrincipalId("alice")), NotAuthenticatedError)


@pytest.mark.parametrize("call", ["tenant", "account", "memberships", "grants"])
async def test_a_directory_that_does_not_answer_is_a_fault(call: str) -> None:
    directory = a_directory()
    directory.down = call
    resolver = a_resolver(directory)

    assert await resolver.resolve(TOKEN) == DOWN
    assert await resolver.current(ACME, PrincipalId("alice")) == DOWN


async def test_a_job_gets_the_person_of_now_by_its_id() -> None:
    directory = a_directory()
    resolver = a_resolver(directory)

    assert ok(await resolver.current(ACME, PrincipalId("alice"))).grants == {READ, ADMIN, WRITE}
    for tenant, name in ((ACME, "mallory"), (TenantId("globex"), "alice")):
        err(await resolver.current(tenant, PrincipalId(name)), NotAuthenticatedError)
    directory.accounts["alice"] = an_account("alice", active=False)
    err(await resolver.current(ACME, PrincipalId("alice")), NotAuthenticatedError)


def test_an_account_is_found_however_its_subject_is_written() -> None:
    assert account_key(" Straße@Acme ") == account_key("STRASSE@acme")
    assert account_key("alice") != account_key("al ice")
