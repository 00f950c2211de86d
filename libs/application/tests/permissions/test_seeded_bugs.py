"""The histories find what they are there to find: each of these bugs, within a few of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter, _scored
from cogni_adapters.memory.partition import Partition, best
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import IndexingService
from cogni_application.indexing.intake import Intake, Taken
from cogni_domain.access import predicate, principal, rule, scope
from cogni_domain.access.predicate import All, Overlaps, admits
from cogni_domain.access.principal import Principal
from cogni_domain.access.resolver import PrincipalResolver
from cogni_domain.access.rule import AccessRule, Unmappable, rule_token
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.jobs import Lane
from cogni_domain.knowledge.corpus import IndexId
from cogni_kernel import Ok
from cogni_testing.histories import DifferenceError, Stores, run_side_by_side

HISTORIES = 40
Patch = pytest.MonkeyPatch


def a_move_keeps_its_rule(patch: Patch) -> None:
    async def unchanged(*_: object) -> object:
        return Ok(Taken.UNCHANGED)

    patch.setattr(Intake, "_relabel", unchanged)


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


def the_last_check_is_left_out(patch: Patch) -> None:
    async def unchecked(self: MemoryDocumentStoreAdapter, chunks: Sequence[Any], _: Any) -> Any:
        every = {c.id: c for d in self._state.documents.values() for c in self._passages(d)}
        return Ok([every[c] for c in chunks if c in every])

    patch.setattr(MemoryDocumentStoreAdapter, "current", unchecked)


def an_index_is_relabelled_in_one_store_only(patch: Patch) -> None:
    async def nothing(*_: object) -> object:
        return Ok(0)

    patch.setattr(MemoryKeywordSearchAdapter, "relabel", nothing)


def an_index_is_emptied_in_one_store_only(patch: Patch) -> None:
    async def nothing(*_: object) -> object:
        return Ok(0)

    patch.setattr(MemoryVectorStoreAdapter, "delete", nothing)


def an_edit_doubles_the_passages(patch: Patch) -> None:
    whole = Partition.delete

    def keeps(self: Any, documents: Any) -> int:
        return 0 if isinstance(documents, set) else whole(self, documents)

    patch.setattr(Partition, "delete", keeps)


def an_attachment_is_open_to_all(patch: Patch) -> None:
    whole = MemoryDocumentStoreAdapter.put

    async def put(self: MemoryDocumentStoreAdapter, *rest: Any) -> Any:
        done = await whole(self, *rest)
        for place, found in self._state.documents.items():
            if found.parent is not None:
                open_to_all = replace(found, rule=AccessRule.everyone())
                self._state.documents[place] = open_to_all
        return done

    patch.setattr(MemoryDocumentStoreAdapter, "put", put)


def an_attachment_does_not_follow_its_page(patch: Patch) -> None:
    async def alone(
        self: MemoryDocumentStoreAdapter, tenant: Any, document: Any, rule: Any, jobs: Any
    ) -> Any:
        found = self._state.documents.get((tenant, document))
        if found is not None:
            self._state.documents[tenant, document] = replace(found, rule=rule)
        self._state.enqueue_all(jobs, Lane.INDEXING)
        return Ok(None)

    patch.setattr(MemoryDocumentStoreAdapter, "change_rule", alone)


def what_is_unclear_is_open(patch: Patch) -> None:
    whole = Intake.take

    async def take(self: Intake, corpus: Any, connector: Any, source: Any) -> Any:
        if isinstance(source.rule, Unmappable):
            source = replace(source, rule=AccessRule.everyone())
        return await whole(self, corpus, connector, source)

    patch.setattr(Intake, "take", take)


def what_became_unclear_stays(patch: Patch) -> None:
    async def note_only(
        self: Intake, corpus: Any, source_id: str, name: str, why: Any = None
    ) -> Any:
        return await self.note(corpus, source_id, name, why)

    patch.setattr(Intake, "leave_out", note_only)


def what_is_gone_is_not_swept(patch: Patch) -> None:
    async def nothing(*_: object) -> object:
        return Ok(None)

    patch.setattr(IndexingService, "_sweep", nothing)


def a_rule_changes_with_the_next_edit_only(patch: Patch) -> None:
    whole = IndexingService.on_change

    async def not_for_rules(self: IndexingService, corpus: Any, connector: Any, event: Any) -> Any:
        if event.kind.value == "acl_changed":
            return Ok(None)
        return await whole(self, corpus, connector, event)

    patch.setattr(IndexingService, "on_change", not_for_rules)


def a_late_job_writes_what_it_read_before(patch: Patch) -> None:
    whole = IndexWriter._passages

    async def readers_of_all(self: IndexWriter, tenant: Any, documents: Any) -> Any:
        found = await whole(self, tenant, documents)
        everyone = AccessRule.everyone().readers
        return found.map(
            lambda passages: {
                d: [replace(c, readers=everyone) for c in cs] for d, cs in passages.items()
            }
        )

    patch.setattr(IndexWriter, "_passages", readers_of_all)
    the_last_check_is_left_out(patch)


BUGS: tuple[Callable[[Patch], None], ...] = (
    a_move_keeps_its_rule,
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
    the_last_check_is_left_out,
    an_index_is_relabelled_in_one_store_only,
    an_index_is_emptied_in_one_store_only,
    an_edit_doubles_the_passages,
    an_attachment_is_open_to_all,
    an_attachment_does_not_follow_its_page,
    what_is_unclear_is_open,
    what_became_unclear_stays,
    what_is_gone_is_not_swept,
    a_rule_changes_with_the_next_edit_only,
    a_late_job_writes_what_it_read_before,
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
async def test_a_seeded_bug_is_found_within_a_few_histories(
    bug: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    async def histories() -> None:
        for seed in range(HISTORIES):
            await run_side_by_side([seed], Stores.in_memory())

    bug(monkeypatch)

    with pytest.raises(DifferenceError):
        await histories()


def test_there_are_at_least_twenty_seeded_bugs() -> None:
    assert len(set(BUGS)) == len(BUGS) >= 20
