"""The histories find what they are there to find: each of these bugs, within a few of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter, _scored
from cogni_adapters.memory.partition import best
from cogni_domain.access import predicate, principal, rule, scope
from cogni_domain.access.predicate import All, Overlaps, admits
from cogni_domain.access.principal import Principal
from cogni_domain.access.resolver import PrincipalResolver
from cogni_domain.access.rule import AccessRule, rule_token
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.knowledge.corpus import IndexId
from cogni_kernel import Ok
from cogni_testing.histories import DifferenceError, Stores, run_side_by_side

HISTORIES = 40
Patch = pytest.MonkeyPatch


def a_denial_is_dropped_where_it_is_stored(patch: Patch) -> None:
    patch.setattr(rule, "_is_compound", lambda simple: len(simple.clauses) > 1)


def a_denial_is_dropped_where_it_is_judged(patch: Patch) -> None:
    def any_clause_but_no_denial(of: AccessRule, tokens: frozenset[str]) -> bool:
        return all(clause & tokens for clause in of.clauses)

    patch.setattr(AccessRule, "admits", any_clause_but_no_denial)


def one_clause_is_enough(patch: Patch) -> None:
    def admits_any(of: AccessRule, tokens: frozenset[str]) -> bool:
        return not of.denied & tokens and any(clause & tokens for clause in of.clauses)

    patch.setattr(AccessRule, "admits", admits_any)


def the_wider_of_two_clauses_is_kept(patch: Patch) -> None:
    def widest(of: AccessRule) -> AccessRule:
        kept = {c for c in of.clauses if not any(other > c for other in of.clauses)}
        return AccessRule(tuple(sorted(kept, key=sorted)), of.denied)

    patch.setattr(AccessRule, "simplified", widest)


def whoever_shares_a_clause_gets_the_compound_token(patch: Patch) -> None:
    async def all_of_them(self: ScopePolicy, tenant: Any, who: Principal) -> Any:
        found = await self.rules.candidates(tenant, who.own_tokens())
        return found.map(lambda rules: frozenset(map(rule_token, rules)))

    patch.setattr(ScopePolicy, "_satisfied", all_of_them)


def compound_rules_are_cached_between_requests(patch: Patch) -> None:
    whole = ScopePolicy._satisfied
    kept: dict[Any, Any] = {}

    async def cached(self: ScopePolicy, tenant: Any, who: Principal) -> Any:
        key = (id(self), tenant, who.id, who.kind)
        if key not in kept:
            kept[key] = (self, await whole(self, tenant, who))
        return kept[key][1]

    patch.setattr(ScopePolicy, "_satisfied", cached)


def groups_are_cached_between_requests(patch: Patch) -> None:
    whole = PrincipalResolver._principal
    kept: dict[Any, Any] = {}

    async def cached(self: PrincipalResolver, account: Any) -> Any:
        found = await whole(self, account)
        if not isinstance(found, Ok):
            return found
        key = (id(self), found.value.tenant_id, found.value.id)
        return kept.setdefault(key, (self, found))[1]

    patch.setattr(PrincipalResolver, "_principal", cached)


def unknown_groups_are_no_groups(patch: Patch) -> None:
    patch.setattr(scope, "MembershipState", _NeverUnknown)


class _NeverUnknown:
    UNKNOWN = object()


def suspended_people_live_on(patch: Patch) -> None:
    whole = PrincipalResolver._principal

    async def active(self: PrincipalResolver, account: Any) -> Any:
        if isinstance(account, Ok) and account.value is not None:
            account = Ok(replace(account.value, active=True))
        return await whole(self, account)

    patch.setattr(PrincipalResolver, "_principal", active)


def a_disabled_tenant_works_on(patch: Patch) -> None:
    async def without_looking(self: PrincipalResolver, tenant: Any, who: Any) -> Any:
        return await self._principal(await self.directory.account_of(tenant, who))

    patch.setattr(PrincipalResolver, "current", without_looking)


def a_delegate_keeps_its_own_tokens(patch: Patch) -> None:
    patch.setattr(Principal, "tokens", Principal.own_tokens)


def a_delegate_is_judged_alone_by_compound_rules(patch: Patch) -> None:
    patch.setattr(Principal, "parties", lambda self: (self,))


def a_groups_source_is_ignored(patch: Patch) -> None:
    def by_name(group: str) -> str:
        return f"g:wiki/{group.partition('/')[2]}"

    patch.setattr(principal, "group_token", by_name)


def no_readers_means_everybody(patch: Patch) -> None:
    def open_admits(wanted: Any, labels: Any) -> bool:
        match wanted:
            case Overlaps(field, values):
                held = labels.get(field, frozenset())
                return not held or bool(held & values)
            case All(parts):
                return bool(parts) and all(open_admits(part, labels) for part in parts)
            case _:
                return admits(wanted, labels)

    patch.setattr(predicate, "admits", open_admits)
    patch.setattr("cogni_adapters.memory.partition.admits", open_admits)
    patch.setattr("cogni_adapters.memory.documents.admits", open_admits)


def the_tenant_is_left_out(patch: Patch) -> None:
    whole = scope._predicate

    def without_tenant(*args: Any) -> All:
        return All(whole(*args).parts[1:])  # type: ignore[union-attr]

    patch.setattr(scope, "_predicate", without_tenant)
    patch.setattr(IndexId, "__hash__", lambda self: hash(self.corpus_id))
    patch.setattr(IndexId, "__eq__", lambda self, other: self.corpus_id == other.corpus_id)


def the_predicate_comes_after_the_search(patch: Patch) -> None:
    async def search(
        self: MemoryKeywordSearchAdapter, index: Any, terms: Any, wanted: Any, k: int
    ) -> Any:
        partition = self._partitions[index]
        nearest = best(_scored(list(partition._rows.values()), terms), k)
        visible = {row.chunk.id for row in partition.visible(wanted)}
        return Ok([hit for hit in nearest if hit.chunk_id in visible])

    patch.setattr(MemoryKeywordSearchAdapter, "search", search)


def ids_are_folded(patch: Patch) -> None:
    whole = Principal.own_tokens

    def lower(self: Principal) -> Any:
        return frozenset(token.lower() for token in whole(self))

    patch.setattr(Principal, "own_tokens", lower)


def a_restriction_is_dropped(patch: Patch) -> None:
    patch.setattr(AccessRule, "restricted_to", lambda of, *_: of)


def a_restriction_replaces_those_above(patch: Patch) -> None:
    def alone(of: AccessRule, *tokens: str) -> AccessRule:
        return AccessRule(AccessRule.any_of(*tokens).clauses, of.denied)

    patch.setattr(AccessRule, "restricted_to", alone)


def what_all_may_read_cannot_be_restricted(patch: Patch) -> None:
    whole = AccessRule.restricted_to

    def unless_open(of: AccessRule, *tokens: str) -> AccessRule:
        return of if of == AccessRule.everyone() else whole(of, *tokens)

    patch.setattr(AccessRule, "restricted_to", unless_open)


def a_denial_replaces_those_above(patch: Patch) -> None:
    def alone(of: AccessRule, *tokens: str) -> AccessRule:
        return AccessRule(of.clauses, AccessRule.any_of(*tokens).clauses[0])

    patch.setattr(AccessRule, "except_for", alone)


def all_compound_rules_share_one_token(patch: Patch) -> None:
    patch.setattr(rule, "rule_token", lambda _: "r:one")
    patch.setattr(scope, "rule_token", lambda _: "r:one")


def leaving_a_group_goes_unnoticed(patch: Patch) -> None:
    whole = MemoryDirectoryAdapter.set_memberships

    async def only_more(
        self: MemoryDirectoryAdapter, tenant: Any, who: Any, groups: Any, state: Any
    ) -> Any:
        before = self._memberships.get((tenant, who))
        every = groups | before.groups if before else groups
        return await whole(self, tenant, who, every, state)

    patch.setattr(MemoryDirectoryAdapter, "set_memberships", only_more)


def any_part_of_a_predicate_is_enough(patch: Patch) -> None:
    def some(wanted: Any, labels: Any) -> bool:
        if isinstance(wanted, All):
            return any(some(part, labels) for part in wanted.parts)
        return admits(wanted, labels)

    patch.setattr("cogni_adapters.memory.partition.admits", some)
    patch.setattr("cogni_adapters.memory.documents.admits", some)


def by_id_nothing_is_checked(patch: Patch) -> None:
    async def readable(self: MemoryDocumentStoreAdapter, documents: Any, _: Any) -> Any:
        there = {document.id for document in self._state.documents.values()}
        return Ok(there.intersection(documents))

    patch.setattr(MemoryDocumentStoreAdapter, "readable", readable)


def an_answer_is_kept_for_whoever_asks_next(patch: Patch) -> None:
    whole = MemoryKeywordSearchAdapter.search
    kept: dict[Any, Any] = {}

    async def cached(
        self: MemoryKeywordSearchAdapter, index: Any, terms: Any, wanted: Any, k: int
    ) -> Any:
        rows = self._partitions[index]._rows.values()
        state = frozenset((row.chunk.id, row.chunk.readers) for row in rows)
        key = (id(self), index, k, state)
        if key not in kept:
            kept[key] = (self, await whole(self, index, terms, wanted, k))
        return kept[key][1]

    patch.setattr(MemoryKeywordSearchAdapter, "search", cached)


BUGS: tuple[Callable[[Patch], None], ...] = (
    a_denial_is_dropped_where_it_is_stored,
    a_denial_is_dropped_where_it_is_judged,
    one_clause_is_enough,
    the_wider_of_two_clauses_is_kept,
    whoever_shares_a_clause_gets_the_compound_token,
    compound_rules_are_cached_between_requests,
    groups_are_cached_between_requests,
    unknown_groups_are_no_groups,
    suspended_people_live_on,
    a_disabled_tenant_works_on,
    a_delegate_keeps_its_own_tokens,
    a_delegate_is_judged_alone_by_compound_rules,
    a_groups_source_is_ignored,
    no_readers_means_everybody,
    the_tenant_is_left_out,
    the_predicate_comes_after_the_search,
    ids_are_folded,
    a_restriction_is_dropped,
    a_restriction_replaces_those_above,
    what_all_may_read_cannot_be_restricted,
    a_denial_replaces_those_above,
    all_compound_rules_share_one_token,
    leaving_a_group_goes_unnoticed,
    any_part_of_a_predicate_is_enough,
    by_id_nothing_is_checked,
    an_answer_is_kept_for_whoever_asks_next,
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
async def test_a_seeded_bug_of_access_is_found_within_a_few_histories(
    bug: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    async def histories() -> None:
        for seed in range(HISTORIES):
            await run_side_by_side([seed], Stores.in_memory())

    bug(monkeypatch)

    with pytest.raises(DifferenceError):
        await histories()


def test_there_are_as_many_seeded_bugs_of_access_as_were_meant() -> None:
    assert len(set(BUGS)) == len(BUGS) == 26
