"""The histories find what goes wrong on the way into the indexes: each of these bugs, within a few of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.partition import Partition
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import IndexingService
from cogni_application.indexing.intake import Intake, Taken
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.jobs import Lane
from cogni_kernel import DocumentId, Ok
from cogni_testing.histories import DifferenceError, Stores, run_side_by_side

HISTORIES = 40
Patch = pytest.MonkeyPatch


def a_move_keeps_its_rule(patch: Patch) -> None:
    async def unchanged(*_: object) -> object:
        return Ok(Taken.UNCHANGED)

    patch.setattr(Intake, "_relabel", unchanged)


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
        return Ok([])

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


def removals_are_forgotten(patch: Patch) -> None:
    async def nothing(_: IndexWriter, jobs: Sequence[Any]) -> Any:
        return [Ok(None)] * len(jobs)

    patch.setattr(IndexWriter, "remove", nothing)


def of_a_batch_the_first_alone_is_relabelled(patch: Patch) -> None:
    whole = IndexWriter.relabel

    async def first(self: IndexWriter, jobs: Sequence[Any]) -> Any:
        return [*await whole(self, jobs[:1]), *[Ok(None)] * (len(jobs) - 1)]

    patch.setattr(IndexWriter, "relabel", first)


def a_reading_overlooks_rules(patch: Patch) -> None:
    whole, relabel = IndexingService._take, Intake._relabel
    reading: list[Any] = []

    async def take(self: IndexingService, *rest: Any) -> Any:
        reading.append(self)
        try:
            return await whole(self, *rest)
        finally:
            reading.pop()

    async def unless_reading(self: Intake, *rest: Any) -> Any:
        return Ok(Taken.UNCHANGED) if reading else await relabel(self, *rest)

    patch.setattr(IndexingService, "_take", take)
    patch.setattr(Intake, "_relabel", unless_reading)


def an_id_is_used_again_after_a_deletion(patch: Patch) -> None:
    whole = Intake._document

    def of_its_source(self: Intake, corpus: Any, *rest: Any) -> Any:
        document = whole(self, corpus, *rest)
        return replace(document, id=DocumentId(f"{corpus.tenant_id} {document.source_id}"))

    patch.setattr(Intake, "_document", of_its_source)


def what_was_unclear_stays_away(patch: Patch) -> None:
    whole = Intake.take
    unclear: set[Any] = set()

    async def take(self: Intake, corpus: Any, connector: Any, source: Any) -> Any:
        place = (corpus.index, source.source_id)
        if isinstance(source.rule, Unmappable):
            unclear.add(place)
        if place in unclear:
            source = replace(source, rule=Unmappable("It was unclear once."))
        return await whole(self, corpus, connector, source)

    patch.setattr(Intake, "take", take)


def an_edit_detaches_nothing(patch: Patch) -> None:
    async def nothing(*_: object) -> object:
        return Ok(None)

    patch.setattr(Intake, "_detach", nothing)


def what_is_deleted_can_still_be_found(patch: Patch) -> None:
    async def kept(*_: object) -> object:
        return Ok(0)

    patch.setattr(MemoryDocumentStoreAdapter, "delete", kept)


BUGS: tuple[Callable[[Patch], None], ...] = (
    a_move_keeps_its_rule,
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
    removals_are_forgotten,
    of_a_batch_the_first_alone_is_relabelled,
    a_reading_overlooks_rules,
    an_id_is_used_again_after_a_deletion,
    what_was_unclear_stays_away,
    an_edit_detaches_nothing,
    what_is_deleted_can_still_be_found,
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
async def test_a_seeded_bug_of_indexing_is_found_within_a_few_histories(
    bug: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    async def histories() -> None:
        for seed in range(HISTORIES):
            await run_side_by_side([seed], Stores.in_memory())

    bug(monkeypatch)

    with pytest.raises(DifferenceError):
        await histories()


def test_there_are_as_many_seeded_bugs_of_indexing_as_were_meant() -> None:
    assert len(set(BUGS)) == len(BUGS) == 19
