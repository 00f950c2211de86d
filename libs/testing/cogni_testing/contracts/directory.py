"""What every `DirectoryPort` promises."""

from abc import ABC, abstractmethod
from dataclasses import replace

import pytest

from cogni_domain.access.directory import Account, Issuer, Tenant
from cogni_domain.access.principal import Memberships, MembershipState, PrincipalKind
from cogni_domain.access.resolver import Standing
from cogni_domain.ports.directory import DirectoryPort
from cogni_kernel import ConflictError, GrantKey, PrincipalId, TenantId
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import ACME, GLOBEX, HOSTILE_TEXTS

P41 = PrincipalId("41")
P42 = PrincipalId("42")
KNOWN = MembershipState.KNOWN
SEARCH = GrantKey("content.search")
BOOK = GrantKey("leave.book")

ACME_TENANT = Tenant(ACME, "Acme")
ACME_KEY = Issuer(
    key_id="acme-1",
    tenant_id=ACME,
    algorithm="EdDSA",
    key="a public key",
    issuer="https://intranet.acme.example",
    audience="cogni",
)


def an_account(
    principal: PrincipalId = P41, tenant: TenantId = ACME, name: str = "Alice"
) -> Account:
    """Return a person who works in Berlin."""
    return Account(principal, tenant, PrincipalKind.HUMAN, name, {"site": "Berlin"})


class DirectoryContract(ABC):
    """Who a person is, as of now; what was never learnt denies."""

    @abstractmethod
    async def make_directory(self) -> DirectoryPort:
        """Return a directory; a second call in one test returns another over the same data."""

    async def test_what_was_never_put_is_not_there(self) -> None:
        directory = await self.make_directory()

        assert ok(await directory.tenant(ACME)) is None
        assert ok(await directory.issuer("acme-1")) is None
        assert ok(await directory.account(ACME, "alice")) is None
        assert ok(await directory.account_of(ACME, P41)) is None
        assert ok(await directory.grants(ACME, P41, frozenset({"wiki/hr"}))) == frozenset()

    async def test_the_whole_standing_of_a_subject_is_what_its_parts_are(self) -> None:
        directory = await self.make_directory()
        assert ok(await directory.standing(ACME, "alice")) == Standing(None)
        ok(await directory.put_tenant(ACME_TENANT))
        assert ok(await directory.standing(ACME, "alice")) == Standing(ACME_TENANT)
        ok(await directory.put_account(an_account(), "Alice"))
        ok(await directory.set_grants(ACME, "u:41", frozenset({SEARCH})))
        ok(await directory.set_grants(ACME, "g:wiki/hr", frozenset({BOOK})))
        unknown = ok(await directory.memberships(ACME, P41))
        held = frozenset({SEARCH})

        found = ok(await directory.standing(ACME, "ALICE"))
        assert found == Standing(ACME_TENANT, an_account(), unknown, held)
        for state, counted in (
            (KNOWN, {SEARCH, BOOK}),
            (MembershipState.STALE, {SEARCH, BOOK}),
            (MembershipState.UNKNOWN, {SEARCH}),
        ):
            ok(await directory.set_memberships(ACME, P41, frozenset({"wiki/hr"}), state))
            groups = ok(await directory.memberships(ACME, P41))
            found = ok(await directory.standing(ACME, "alice"))
            assert found == Standing(ACME_TENANT, an_account(), groups, frozenset(counted))
        off = replace(ACME_TENANT, enabled=False)
        ok(await directory.put_tenant(off))
        assert ok(await directory.standing(ACME, "alice")) == Standing(off)

    async def test_groups_that_were_never_learnt_are_unknown(self) -> None:
        directory = await self.make_directory()

        found = ok(await directory.memberships(ACME, P41))

        assert found == Memberships(frozenset(), MembershipState.UNKNOWN, 0)

    async def test_a_tenant_can_be_switched_off_and_on(self) -> None:
        directory = await self.make_directory()
        for tenant in (ACME_TENANT, replace(ACME_TENANT, enabled=False), ACME_TENANT):
            ok(await directory.put_tenant(tenant))
            assert ok(await directory.tenant(ACME)) == tenant
        assert ok(await directory.tenant(GLOBEX)) is None

    async def test_an_issuer_is_found_by_its_key_id(self) -> None:
        directory = await self.make_directory()
        loopback = replace(ACME_KEY, key_id="acme-2", algorithm="HS256", loopback_only=True)
        ok(await directory.put_issuer(ACME_KEY))
        ok(await directory.put_issuer(loopback))

        assert ok(await directory.issuer("acme-1")) == ACME_KEY
        assert ok(await directory.issuer("acme-2")) == loopback
        assert ok(await directory.issuer("ACME-1")) is None

    async def test_an_issuers_key_can_be_replaced(self) -> None:
        directory = await self.make_directory()
        ok(await directory.put_issuer(ACME_KEY))
        rotated = replace(ACME_KEY, key="another key", audience="cogni-2")

        ok(await directory.put_issuer(rotated))

        assert ok(await directory.issuer("acme-1")) == rotated

    async def test_which_pages_may_frame_a_surface_goes_with_the_key(self) -> None:
        directory = await self.make_directory()
        framed = replace(ACME_KEY, origins=("https://intranet.acme.example", "http://[::1]:8081"))
        ok(await directory.put_issuer(framed))
        assert ok(await directory.issuer("acme-1")) == framed

        ok(await directory.put_issuer(ACME_KEY))
        assert ok(await directory.issuer("acme-1")) == ACME_KEY

    async def test_a_tenant_keeps_its_look_and_what_it_switched_off(self) -> None:
        directory = await self.make_directory()
        dressed = replace(
            ACME_TENANT, surfaces_off=frozenset({"terminal"}), brand={"radius": "8px"}
        )

        for tenant in (dressed, ACME_TENANT):
            ok(await directory.put_tenant(tenant))
            assert ok(await directory.tenant(ACME)) == tenant

    async def test_a_key_id_never_goes_to_another_tenant(self) -> None:
        directory = await self.make_directory()
        ok(await directory.put_issuer(ACME_KEY))

        stolen = replace(ACME_KEY, tenant_id=GLOBEX, key="the key of globex")
        err(await directory.put_issuer(stolen), ConflictError)

        assert ok(await directory.issuer("acme-1")) == ACME_KEY

    @pytest.mark.parametrize("subject", ["alice@acme.example", " ALICE@Acme.Example\n"])
    async def test_an_account_is_found_by_its_subject_folded(self, subject: str) -> None:
        directory = await self.make_directory()
        ok(await directory.put_account(an_account(), "Alice@acme.example"))

        assert ok(await directory.account(ACME, subject)) == an_account()
        assert ok(await directory.account(GLOBEX, subject)) is None

    async def test_an_account_is_found_by_its_id_to_the_letter(self) -> None:
        directory = await self.make_directory()
        account = an_account(PrincipalId("Alice"))
        ok(await directory.put_account(account, "alice@acme.example"))

        assert ok(await directory.account_of(ACME, PrincipalId("Alice"))) == account
        assert ok(await directory.account_of(ACME, PrincipalId("alice"))) is None
        assert ok(await directory.account_of(GLOBEX, PrincipalId("Alice"))) is None

    async def test_an_account_can_change_and_be_closed(self) -> None:
        directory = await self.make_directory()
        ok(await directory.put_account(an_account(), "alice"))
        changed = replace(an_account(name="Alice B."), attributes={}, active=False)

        ok(await directory.put_account(changed, "alice"))

        assert ok(await directory.account(ACME, "alice")) == changed
        assert ok(await directory.account_of(ACME, P41)) == changed

    async def test_several_subjects_may_be_one_account(self) -> None:
        directory = await self.make_directory()
        ok(await directory.put_account(an_account(), "alice"))
        ok(await directory.put_account(an_account(), "alice@wiki"))

        for subject in ("alice", "alice@wiki"):
            assert ok(await directory.account(ACME, subject)) == an_account()

    async def test_a_subject_is_never_two_accounts(self) -> None:
        directory = await self.make_directory()
        ok(await directory.put_account(an_account(), "alice"))
        impostor = an_account(P42, name="Mallory")

        err(await directory.put_account(impostor, " Alice"), ConflictError)
        renamed = replace(an_account(), display_name="Renamed")
        ok(await directory.put_account(impostor, "mallory"))
        err(await directory.put_account(renamed, "mallory"), ConflictError)

        assert ok(await directory.account(ACME, "alice")) == an_account()
        assert ok(await directory.account(ACME, "mallory")) == impostor

    async def test_a_subject_is_its_tenants_own(self) -> None:
        directory = await self.make_directory()
        theirs = an_account(tenant=GLOBEX, name="Another Alice")
        ok(await directory.put_account(an_account(), "alice"))
        ok(await directory.put_account(theirs, "alice"))

        assert ok(await directory.account(ACME, "alice")) == an_account()
        assert ok(await directory.account(GLOBEX, "alice")) == theirs

    async def test_every_change_of_groups_is_a_new_version(self) -> None:
        directory = await self.make_directory()
        steps = (
            (frozenset({"wiki/hr", "wiki/leads"}), KNOWN),
            (frozenset({"wiki/hr"}), MembershipState.STALE),
            (frozenset[str](), MembershipState.UNKNOWN),
            (frozenset({"wiki/hr"}), KNOWN),
        )
        for version, (groups, state) in enumerate(steps, start=1):
            assert ok(await directory.set_memberships(ACME, P41, groups, state)) == version
            expected = Memberships(groups, state, version)
            assert ok(await directory.memberships(ACME, P41)) == expected

    async def test_everybody_of_a_tenant_is_listed_once(self) -> None:
        directory = await self.make_directory()
        for tenant in (ACME, GLOBEX):
            ok(await directory.put_tenant(Tenant(tenant, str(tenant))))
        for tenant, principal in ((ACME, P42), (ACME, P41), (GLOBEX, P41)):
            account = Account(principal, tenant, PrincipalKind.HUMAN, "A person")
            for subject in (f"{principal}", f"{principal}@acme.example"):
                ok(await directory.put_account(account, subject))

        assert ok(await directory.principals(ACME)) == [P41, P42]
        assert ok(await directory.principals(TenantId("nobody's"))) == []

    async def test_groups_are_one_principals_of_one_tenant(self) -> None:
        directory = await self.make_directory()
        ok(await directory.set_memberships(ACME, P41, frozenset({"wiki/hr"}), KNOWN))

        for tenant, principal in ((ACME, P42), (GLOBEX, P41)):
            found = ok(await directory.memberships(tenant, principal))
            assert (found.groups, found.state) == (frozenset(), MembershipState.UNKNOWN)

    async def test_grants_are_those_of_the_principal_and_of_the_groups(self) -> None:
        directory = await self.make_directory()
        ok(await directory.set_grants(ACME, "u:41", frozenset({SEARCH})))
        ok(await directory.set_grants(ACME, "g:wiki/hr", frozenset({SEARCH, BOOK})))
        ok(await directory.set_grants(GLOBEX, "u:41", frozenset({GrantKey("theirs")})))

        assert ok(await directory.grants(ACME, P41, frozenset())) == {SEARCH}
        assert ok(await directory.grants(ACME, P41, frozenset({"wiki/hr"}))) == {SEARCH, BOOK}
        assert ok(await directory.grants(ACME, P42, frozenset({"wiki/hr"}))) == {SEARCH, BOOK}
        assert ok(await directory.grants(ACME, P42, frozenset({"wiki/HR"}))) == frozenset()

    async def test_a_grant_that_was_taken_away_is_gone_at_once(self) -> None:
        directory = await self.make_directory()
        ok(await directory.set_grants(ACME, "u:41", frozenset({SEARCH, BOOK})))

        ok(await directory.set_grants(ACME, "u:41", frozenset({BOOK})))
        assert ok(await directory.grants(ACME, P41, frozenset())) == {BOOK}

        ok(await directory.set_grants(ACME, "u:41", frozenset()))
        assert ok(await directory.grants(ACME, P41, frozenset())) == frozenset()

    async def test_ten_thousand_groups_are_kept_and_looked_up(self) -> None:
        directory = await self.make_directory()
        groups = frozenset(f"wiki/{number}" for number in range(10_000))
        ok(await directory.set_memberships(ACME, P41, groups, KNOWN))
        ok(await directory.set_grants(ACME, "g:wiki/9999", frozenset({SEARCH})))

        assert ok(await directory.memberships(ACME, P41)).groups == groups
        assert ok(await directory.grants(ACME, P41, groups)) == {SEARCH}

    async def test_names_that_look_alike_are_different(self) -> None:
        directory = await self.make_directory()
        for text in HOSTILE_TEXTS:
            grant = frozenset({GrantKey(f"may {text}")})
            ok(await directory.set_grants(ACME, f"u:{text}", grant))
            group = frozenset({f"wiki/{text}"})
            ok(await directory.set_memberships(ACME, PrincipalId(text), group, KNOWN))

        for text in HOSTILE_TEXTS:
            principal = PrincipalId(text)
            found = ok(await directory.grants(ACME, principal, frozenset()))
            assert found == {GrantKey(f"may {text}")}
            assert ok(await directory.memberships(ACME, principal)).groups == {f"wiki/{text}"}
