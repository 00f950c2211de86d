"""What a person is a member of, learnt from sources that may be away or unclear."""

from collections.abc import Mapping

import pytest

from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_application.memberships import PATIENCE, MembershipService
from cogni_domain.access.directory import Account, Tenant
from cogni_domain.access.principal import Memberships, MembershipState, PrincipalKind
from cogni_domain.access.source_accounts import SourceAccount, SourceAccounts, closure
from cogni_domain.ports.accounts import AccountsPort
from cogni_kernel import Err, HumanText, Ok, PrincipalId, Result, TenantId, UpstreamError
from cogni_testing import FrozenClock, ok

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
ANA, BOB = PrincipalId("1"), PrincipalId("2")
KNOWN, STALE, UNKNOWN = MembershipState.KNOWN, MembershipState.STALE, MembershipState.UNKNOWN


class Source(AccountsPort):
    def __init__(self, authority: str, *accounts: SourceAccount) -> None:
        self._authority = authority
        self.found = accounts
        self.within: Mapping[str, frozenset[str]] = {}
        self.is_away = False

    @property
    def authority(self) -> str:
        return self._authority

    async def accounts(self) -> Result[SourceAccounts]:
        if self.is_away:
            return Err(UpstreamError(HumanText("Away.")))
        return Ok(SourceAccounts(self._authority, self.found, self.within))


def an_account(name: str, *groups: str) -> SourceAccount:
    return SourceAccount(name, f"{name}@acme.example", frozenset(groups))


@pytest.fixture
async def directory() -> MemoryDirectoryAdapter:
    made = MemoryDirectoryAdapter()
    for tenant in (ACME, GLOBEX):
        ok(await made.put_tenant(Tenant(tenant, str(tenant))))
        for principal, name in ((ANA, "ana"), (BOB, "bob")):
            account = Account(principal, tenant, PrincipalKind.HUMAN, name)
            ok(await made.put_account(account, f"{name}@acme.example"))
    return made


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def service(directory: MemoryDirectoryAdapter, clock: FrozenClock) -> MembershipService:
    return MembershipService(directory, clock)


async def of(
    directory: MemoryDirectoryAdapter, person: PrincipalId, tenant: TenantId = ACME
) -> Memberships:
    return ok(await directory.memberships(tenant, person))


async def test_a_persons_groups_are_those_of_every_source_under_its_own_name(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    sources = [Source("wiki", an_account("ana", "hr")), Source("jira", an_account("ana", "hr"))]

    done = ok(await service.refresh(ACME, sources))

    found = await of(directory, ANA)
    assert found.groups == {
        "wiki/account/ana",
        "wiki/group/hr",
        "jira/account/ana",
        "jira/group/hr",
    }
    assert found.state is KNOWN
    assert done.states == {KNOWN: 2}


async def test_nobody_of_another_tenant_gains_anything(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    ok(await service.refresh(ACME, [Source("wiki", an_account("ana", "hr"))]))

    assert (await of(directory, ANA, GLOBEX)).state is UNKNOWN


async def test_the_case_of_an_address_does_not_matter(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    source = Source("wiki", SourceAccount("a", "Ana@Acme.example", frozenset({"hr"})))

    ok(await service.refresh(ACME, [source]))

    assert "wiki/group/hr" in (await of(directory, ANA)).groups


async def test_two_accounts_that_would_be_one_person_make_it_unknown_which(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    twice = SourceAccount("ana2", "ANA@acme.example", frozenset({"board"}))

    ok(await service.refresh(ACME, [Source("wiki", an_account("ana", "hr"), twice)]))

    found = await of(directory, ANA)
    assert (found.groups, found.state) == (frozenset(), UNKNOWN)
    assert (await of(directory, BOB)).state is KNOWN


async def test_what_was_taken_away_is_gone_and_an_account_that_went_takes_all(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    source = Source("wiki", an_account("ana", "hr", "eng"), an_account("bob", "eng"))
    ok(await service.refresh(ACME, [source]))
    source.found = (an_account("ana", "eng"),)

    ok(await service.refresh(ACME, [source]))

    assert (await of(directory, ANA)).groups == {"wiki/account/ana", "wiki/group/eng"}
    assert (await of(directory, BOB)).groups == frozenset()


async def test_a_closed_account_has_no_groups(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    closed = SourceAccount("ana", "ana@acme.example", frozenset({"hr"}), active=False)

    ok(await service.refresh(ACME, [Source("wiki", closed)]))

    assert (await of(directory, ANA)).groups == frozenset()


async def test_groups_of_other_origins_are_left_alone(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    ok(await directory.set_memberships(ACME, ANA, frozenset({"directory/all"}), KNOWN))

    ok(await service.refresh(ACME, [Source("wiki", an_account("ana"))]))

    assert (await of(directory, ANA)).groups == {"directory/all", "wiki/account/ana"}


async def test_a_source_that_is_away_is_believed_for_a_while_and_then_denies(
    directory: MemoryDirectoryAdapter, service: MembershipService, clock: FrozenClock
) -> None:
    source = Source("wiki", an_account("ana", "hr"))
    ok(await service.refresh(ACME, [source]))
    source.is_away = True

    states = []
    for _ in range(3):
        done = ok(await service.refresh(ACME, [source]))
        states.append((await of(directory, ANA)).state)
        clock.advance(PATIENCE * 0.6)
    source.is_away = False
    ok(await service.refresh(ACME, [source]))

    assert states == [STALE, STALE, UNKNOWN]
    assert done.failed == ("wiki",)
    assert (await of(directory, ANA)).state is KNOWN


async def test_what_was_never_learnt_stays_unknown_while_its_source_is_away(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    source = Source("wiki", an_account("ana"))
    source.is_away = True

    ok(await service.refresh(ACME, [source]))

    assert (await of(directory, ANA)).state is UNKNOWN


async def test_nothing_is_written_where_nothing_changed(
    directory: MemoryDirectoryAdapter, service: MembershipService
) -> None:
    source = Source("wiki", an_account("ana", "hr"))
    for _ in range(3):
        ok(await service.refresh(ACME, [source]))

    assert (await of(directory, ANA)).version == 1


async def test_accounts_that_are_nobodys_here_are_told(service: MembershipService) -> None:
    done = ok(await service.refresh(ACME, [Source("wiki", an_account("cleo"))]))

    assert done.unmatched == ("wiki/cleo",)


def test_groups_in_groups_count_twenty_deep_and_in_a_circle() -> None:
    within = {f"g{n}": frozenset({f"g{n + 1}"}) for n in range(20)}
    within["g20"] = frozenset({"g0"})

    assert closure({"g0"}, within) == {f"g{n}" for n in range(21)}


def test_a_source_says_what_its_accounts_groups_are_in() -> None:
    ana = an_account("ana", "a")
    source = SourceAccounts("wiki", (ana,), {"a": frozenset({"b"})})

    assert "wiki/group/b" in source.groups_of(ana)
