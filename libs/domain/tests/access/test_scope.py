"""What a person may read is what every rule says of them, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogni_domain.access.predicate import admits
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import (
    MAX_TOKENS,
    NO_ACCESS,
    TOO_MANY,
    CompoundRules,
    Scope,
    ScopePolicy,
)
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import labels
from cogni_kernel import (
    CorpusId,
    Err,
    HumanText,
    NotPermittedError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
    UpstreamError,
)
from cogni_testing import err, fake_principal, ok

ACME, HANDBOOK = TenantId("acme"), CorpusId("handbook")
GROUPS = ("wiki/a", "wiki/b", "wiki/c")
PEOPLE = ("p", "q")
TOKENS = ("everyone", *(f"g:{g}" for g in GROUPS), *(f"u:{p}" for p in PEOPLE), "a:region=eu")
DOWN = Err(UpstreamError(HumanText("It does not answer.")))

clauses = st.frozensets(st.sampled_from(TOKENS).map(ReaderToken), max_size=4)
rules = st.builds(
    AccessRule,
    st.lists(clauses, min_size=1, max_size=3).map(tuple),
    st.just(frozenset()) | clauses,
)


def a_person(id: str, groups: frozenset[str], region: bool) -> Principal:  # noqa: A002
    attributes = {"region": "eu"} if region else {}
    return fake_principal(id=id, groups=groups, attributes=attributes)


people = st.builds(
    a_person, st.sampled_from(PEOPLE), st.frozensets(st.sampled_from(GROUPS)), st.booleans()
)


@dataclass(frozen=True)
class Rules(CompoundRules):
    """All rules of one tenant; finds by shared tokens, as a store does, unless it finds too much."""

    rules: Sequence[AccessRule]
    finds_all: bool = False

    async def candidates(
        self, tenant: TenantId, tokens: frozenset[ReaderToken]
    ) -> Result[Sequence[AccessRule]]:
        assert tenant == ACME
        compound = [r for r in self.rules if r.is_compound]
        return Ok([r for r in compound if self.finds_all or any(c & tokens for c in r.clauses)])


async def resolved(
    principal: Principal, rules: Sequence[AccessRule], *, finds_all: bool = False
) -> Scope:
    return ok(await ScopePolicy(Rules(rules, finds_all)).resolve(principal, [HANDBOOK]))


def may_read(
    scope: Scope, rule: AccessRule, *, tenant: TenantId = ACME, corpus: CorpusId = HANDBOOK
) -> bool:
    return admits(scope.predicate, labels(tenant, corpus, rule.readers))


@settings(max_examples=300)
@given(people, st.lists(rules, min_size=1, max_size=6), st.booleans())
async def test_the_predicate_admits_exactly_what_the_rules_admit(
    person: Principal, all_rules: list[AccessRule], finds_all: bool
) -> None:
    scope = await resolved(person, all_rules, finds_all=finds_all)

    for rule in all_rules:
        assert may_read(scope, rule) == rule.admits(person.own_tokens())


@settings(max_examples=300)
@given(people, people, st.lists(rules, min_size=1, max_size=6))
async def test_a_delegated_machine_reads_no_more_than_either_party(
    machine: Principal, person: Principal, all_rules: list[AccessRule]
) -> None:
    delegate = fake_principal(
        id=str(machine.id),
        groups=machine.memberships.groups,
        attributes=machine.attributes,
        on_behalf_of=person,
    )
    scope = await resolved(delegate, all_rules)

    for rule in all_rules:
        if may_read(scope, rule):
            assert rule.admits(machine.own_tokens())
            assert rule.admits(person.own_tokens())
        elif rule.is_compound:
            assert not (rule.admits(machine.own_tokens()) and rule.admits(person.own_tokens()))


@given(people, rules)
async def test_nothing_of_another_tenant_or_corpus_is_ever_admitted(
    person: Principal, rule: AccessRule
) -> None:
    scope = await resolved(person, [rule])

    assert not may_read(scope, rule, tenant=TenantId("globex"))
    assert not may_read(scope, rule, corpus=CorpusId("tickets"))


@given(people)
async def test_a_passage_without_readers_is_admitted_for_nobody(person: Principal) -> None:
    assert not may_read(await resolved(person, []), AccessRule.any_of())


@pytest.mark.parametrize(
    "principal",
    [
        fake_principal(tenant=None),
        fake_principal(state=MembershipState.UNKNOWN),
        fake_principal(id="robot", on_behalf_of=fake_principal(tenant="globex")),
        fake_principal(id="robot", on_behalf_of=fake_principal(tenant=None)),
        fake_principal(id="robot", on_behalf_of=fake_principal(state=MembershipState.UNKNOWN)),
        fake_principal(id="robot", state=MembershipState.UNKNOWN, on_behalf_of=fake_principal()),
    ],
    ids=[
        "no tenant",
        "groups unknown",
        "other tenant",
        "person without",
        "person's groups",
        "own groups",
    ],
)
async def test_who_cannot_be_placed_is_refused(principal: Principal) -> None:
    refused = await ScopePolicy(Rules([])).resolve(principal, [HANDBOOK])

    assert err(refused, NotPermittedError).message == NO_ACCESS


async def test_groups_that_are_stale_still_count() -> None:
    stale = fake_principal(groups=["wiki/a"], state=MembershipState.STALE)

    assert may_read(await resolved(stale, []), AccessRule.any_of("g:wiki/a"))


@pytest.mark.parametrize("compound", [0, 1])
async def test_ten_thousand_tokens_are_the_most_that_is_filtered_on(compound: int) -> None:
    rule = AccessRule.everyone().except_for("u:nobody")
    policy = ScopePolicy(Rules([rule] * compound))

    def in_groups(count: int) -> Principal:
        memberships = Memberships(
            frozenset(f"wiki/{n}" for n in range(count)), MembershipState.KNOWN, 1
        )
        return Principal(PrincipalId("alice"), ACME, PrincipalKind.HUMAN, frozenset(), memberships)

    most = in_groups(MAX_TOKENS - 2 - compound)
    ok(await policy.resolve(most, [HANDBOOK]))
    refused = err(
        await policy.resolve(in_groups(MAX_TOKENS - 1 - compound), [HANDBOOK]), NotPermittedError
    )

    assert refused.message == TOO_MANY
    assert refused.detail["tokens"] == MAX_TOKENS + 1


async def test_rules_that_cannot_be_read_refuse_everything() -> None:
    class Down(CompoundRules):
        async def candidates(
            self, tenant: TenantId, tokens: frozenset[ReaderToken]
        ) -> Result[Sequence[AccessRule]]:
            return DOWN

    assert await ScopePolicy(Down()).resolve(fake_principal(), [HANDBOOK]) == DOWN


async def test_the_same_reach_has_the_same_digest_and_another_another() -> None:
    rule = AccessRule.any_of("g:wiki/a").restricted_to("g:wiki/b")
    groups = ["wiki/a", "wiki/b"]
    scopes = [
        await resolved(fake_principal(groups=groups), [rule]),
        await resolved(fake_principal(groups=groups[::-1]), [rule]),
        await resolved(fake_principal(groups=groups), []),
        await resolved(fake_principal(groups=groups[:1]), [rule]),
        await resolved(fake_principal(id="bob", groups=groups), [rule]),
    ]

    digests = [scope.digest for scope in scopes]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4
    elsewhere = ok(await ScopePolicy(Rules([rule])).resolve(scopes[0].principal, []))
    assert elsewhere.digest not in digests
    assert (elsewhere.tenant_id, elsewhere.corpora) == (ACME, frozenset())
