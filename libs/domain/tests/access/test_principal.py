"""Who asks: with a person behind a machine, both count."""

import pytest

from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.access.tokens import conversation_token
from cogni_kernel import ConversationId, GrantKey, PrincipalId, TenantId
from cogni_testing import fake_principal

ALICE = fake_principal(
    ["read", "write"], groups=["wiki/hr", "wiki/all"], attributes={"region": "eu"}
)
ROBOT = fake_principal(["read"], id="robot", groups=["wiki/all"], machine=True)


@pytest.mark.parametrize("kind", [PrincipalKind.HUMAN, PrincipalKind.MACHINE])
def test_only_a_delegated_principal_acts_for_somebody(kind: PrincipalKind) -> None:
    memberships = Memberships(frozenset(), MembershipState.KNOWN, 1)

    def made(kind: PrincipalKind, person: Principal | None) -> Principal:
        return Principal(
            PrincipalId("robot"), TenantId("acme"), kind, frozenset(), memberships, {}, person
        )

    with pytest.raises(ValueError, match="acts for somebody"):
        made(kind, ALICE)
    with pytest.raises(ValueError, match="acts for somebody"):
        made(PrincipalKind.DELEGATED, None)


def test_a_principal_has_the_tokens_of_its_id_groups_and_attributes() -> None:
    assert ALICE.tokens() == {
        "u:alice",
        "g:wiki/hr",
        "g:wiki/all",
        "a:region=eu",
        "everyone",
    }


def test_a_delegated_machine_has_the_tokens_that_both_hold() -> None:
    delegate = fake_principal(
        ["read"], id="robot", groups=["wiki/all", "wiki/ops"], on_behalf_of=ALICE
    )

    assert delegate.parties() == (delegate, ALICE)
    assert delegate.tokens() == {"g:wiki/all", "everyone"}
    assert delegate.tokens() <= ALICE.tokens()
    assert delegate.tokens() <= delegate.own_tokens()


def test_a_person_decides_and_owns_alone_what_a_machine_keeps_apart() -> None:
    for_alice = fake_principal(id="robot", on_behalf_of=ALICE)
    for_bob = fake_principal(id="robot", on_behalf_of=fake_principal(id="bob"))

    assert ALICE.person == ALICE.owner == ALICE.id
    assert for_alice.person == ALICE.id
    assert len({p.owner for p in (ALICE, ROBOT, for_alice, for_bob)}) == 4


def test_only_a_machine_of_its_own_has_nobody_to_confirm() -> None:
    assert ROBOT.is_machine()
    assert not ALICE.is_machine()
    assert not fake_principal(id="robot", on_behalf_of=ALICE).is_machine()


def test_a_grant_is_held_or_not() -> None:
    assert ALICE.has_grant(GrantKey("write"))
    assert not ROBOT.has_grant(GrantKey("write"))


def test_within_a_conversation_a_person_reads_what_was_added_to_it_and_to_no_other() -> None:
    here, there = ConversationId("c1"), ConversationId("c2")
    person = fake_principal(groups=["wiki/hr"])

    assert person.within(here).tokens() == person.tokens() | {conversation_token(here)}
    assert person.within(here).within(there).tokens() == person.within(there).tokens()
    assert person.within(here).owner == person.owner


def test_a_machine_that_acts_for_somebody_reads_nothing_of_their_conversations() -> None:
    machine = Principal(
        id=PrincipalId("robot"),
        tenant_id=TenantId("acme"),
        kind=PrincipalKind.DELEGATED,
        grants=frozenset(),
        memberships=Memberships(frozenset(), MembershipState.KNOWN, 1),
        on_behalf_of=fake_principal(),
    )

    assert machine.within(ConversationId("c1")).tokens() == machine.tokens()
