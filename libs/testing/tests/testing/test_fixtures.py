import pytest

from cogni_domain.access.predicate import admits
from cogni_domain.access.principal import MembershipState, PrincipalKind
from cogni_domain.access.rule import AccessRule
from cogni_engine import Base, Effect, ToolResult, describe
from cogni_kernel import DefinitionError, GrantKey, TenantId
from cogni_testing import corpus_fixture, fake_principal, fake_registry, fake_scope

HR = AccessRule.any_of("g:wiki/hr")
LEADS = HR.restricted_to("g:wiki/leads")


class Look(Base):
    definition = describe("look", does="Looks.", use_when="asked", do_not_use="otherwise")
    grant = GrantKey("look")
    effect = Effect.READ

    async def call(self, args: object) -> ToolResult:
        return ToolResult.data("seen")


def test_a_principal_has_what_was_said_and_nothing_else() -> None:
    person = fake_principal(["leave.read"], "globex", groups=["wiki/hr"])

    assert person.has_grant(GrantKey("leave.read"))
    assert not person.has_grant(GrantKey("leave.write"))
    assert person.tenant_id == TenantId("globex")
    assert person.kind is PrincipalKind.HUMAN


def test_machines_and_delegates_are_of_their_kind() -> None:
    bot = fake_principal(id="bot", machine=True)
    delegate = fake_principal(id="bot", machine=True, on_behalf_of=fake_principal())

    assert bot.is_machine()
    assert delegate.kind is PrincipalKind.DELEGATED


def test_a_scope_is_the_policys_own() -> None:
    corpus = corpus_fixture({"pay": "Pay.", "leave": "Leave."}, {"pay": LEADS, "leave": HR})
    scope = fake_scope(fake_principal(groups=["wiki/hr"]), rules=[LEADS])

    assert admits(scope.predicate, corpus.document("leave").labels())
    assert not admits(scope.predicate, corpus.document("pay").labels())


def test_a_compound_rule_that_is_met_is_in_the_scope() -> None:
    corpus = corpus_fixture({"pay": "Pay."}, {"pay": LEADS})
    scope = fake_scope(fake_principal(groups=["wiki/hr", "wiki/leads"]), rules=[LEADS])

    assert admits(scope.predicate, corpus.document("pay").labels())


def test_a_principal_that_the_policy_refuses_has_no_scope() -> None:
    with pytest.raises(AssertionError, match="access to this assistant"):
        fake_scope(fake_principal(tenant=None))
    with pytest.raises(AssertionError, match="access to this assistant"):
        fake_scope(fake_principal(state=MembershipState.UNKNOWN))


def test_a_registry_offers_exactly_these_tools() -> None:
    assert fake_registry([Look]).snapshot.names() == {"look"}
    with pytest.raises(DefinitionError):
        fake_registry([Look, Look])


def test_each_paragraph_is_a_passage_with_its_documents_readers() -> None:
    corpus = corpus_fixture({"leave": "First.\n\nSecond.\n\n\n"}, {"leave": HR})

    found = corpus.chunks_of(corpus.document("leave"))

    assert [(c.text, c.ordinal, c.readers) for c in found] == [
        ("First.", 0, HR.readers),
        ("Second.", 1, HR.readers),
    ]


def test_a_document_without_a_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="leave"):
        corpus_fixture({"leave": "Leave."}, {})
