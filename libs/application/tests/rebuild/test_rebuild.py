from collections.abc import Sequence

import pytest

from cogni_application.rebuild.rebuild import Blocked, Cutover
from cogni_domain.knowledge.rebuild import RebuildState
from cogni_domain.ports.embedder import Vectors
from cogni_kernel import ConflictError, NotFoundError, Result
from cogni_testing import HashEmbedder, err, ok
from cogni_testing.contracts.knowledge import ACME, HANDBOOK, HR
from tests.rebuild.conftest import NEW, OLD, Gate, Shelf

PLACE = (ACME, HANDBOOK)


async def test_the_new_index_serves_with_another_model(shelf: Shelf) -> None:
    await shelf.fill(40)
    service = shelf.service(NEW)
    err(await shelf.asked("question7", by=NEW), ConflictError)

    ok(await service.rebuild(*PLACE))
    await shelf.work_off(NEW, OLD)
    filled = ok(await service.under_way(*PLACE))
    assert (filled.state, filled.done, filled.total) == (RebuildState.READY, 40, 40)
    assert await shelf.found("question7") >= {"d000007"}
    gate = Gate()
    assert isinstance(ok(await service.cut_over(*PLACE, gate)), Cutover)

    assert gate.compared == [(1, 2)]
    assert await shelf.found("question7", by=NEW) >= {"d000007"}
    err(await shelf.asked("question7", by=OLD), ConflictError)


async def test_a_gate_that_says_no_leaves_the_old_index_serving(shelf: Shelf) -> None:
    await shelf.fill(3)
    service = shelf.service(NEW)
    ok(await service.rebuild(*PLACE))
    await shelf.work_off(NEW, OLD)

    assert ok(await service.cut_over(*PLACE, Gate("worse"))) == Blocked(("worse",))

    assert await shelf.found("question2") >= {"d000002"}
    assert ok(await service.under_way(*PLACE)).state is RebuildState.READY


async def test_what_is_not_full_is_not_judged(shelf: Shelf) -> None:
    await shelf.fill(3)
    service = shelf.service(NEW)
    err(await service.cut_over(*PLACE, Gate()), NotFoundError)
    ok(await service.rebuild(*PLACE))

    gate = Gate()
    err(await service.cut_over(*PLACE, gate), ConflictError)

    assert gate.compared == []


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
async def test_changes_reach_both_indexes_from_the_first_moment(shelf: Shelf, steps: int) -> None:
    await shelf.fill(40)
    service = shelf.service(NEW)
    ok(await service.rebuild(*PLACE))
    worker = shelf.stores.worker(NEW, OLD)
    for _ in range(steps):
        await worker.work_once()
    await shelf.put(1, "about zebras now", at=2)
    await shelf.restrict(2, HR)
    await shelf.delete(3)
    await shelf.put(99)

    await worker.work_off()
    ok(await service.cut_over(*PLACE, Gate()))
    after = [await shelf.found("zebras", by=NEW), await shelf.found("question99", by=NEW)]
    assert ok(await service.under_way(*PLACE)).state is RebuildState.SERVING
    assert [{"d000001"}, {"d000099"}] == [found & {"d000001", "d000099"} for found in after]
    assert "d000002" in await shelf.found("question2", by=NEW, hr=True)
    assert "d000002" not in await shelf.found("question2", by=NEW)
    assert "d000003" not in await shelf.found("question3", by=NEW)


async def test_the_former_index_is_up_to_date_when_it_is_taken_back(shelf: Shelf) -> None:
    await shelf.fill(10)
    service = shelf.service(NEW)
    ok(await service.rebuild(*PLACE))
    await shelf.work_off(NEW, OLD)
    ok(await service.cut_over(*PLACE, Gate()))
    await shelf.put(1, "about zebras now", at=2)
    await shelf.delete(3)
    await shelf.work_off(NEW, OLD)

    ok(await service.roll_back(*PLACE))

    assert "d000001" in await shelf.found("zebras")
    assert "d000003" not in await shelf.found("question3")
    err(await service.roll_back(*PLACE), ConflictError)
    assert isinstance(ok(await service.cut_over(*PLACE, Gate())), Cutover)


async def test_what_was_restricted_costs_no_embedding_during_a_rebuild(shelf: Shelf) -> None:
    await shelf.fill(3)
    ok(await shelf.service(NEW).rebuild(*PLACE))
    await shelf.work_off(NEW, OLD)
    embedded: list[str] = []

    class Counting(HashEmbedder):
        async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
            embedded.extend(texts)
            return await super().embed(texts)

    await shelf.restrict(2, HR)
    await shelf.work_off(Counting(128), Counting(64))

    assert embedded == []
    assert "d000002" in await shelf.found("question2", hr=True)


async def test_the_next_rebuild_empties_the_index_that_nobody_goes_back_to(shelf: Shelf) -> None:
    await shelf.fill(5)
    service = shelf.service(OLD)
    ok(await service.rebuild(*PLACE))
    await shelf.work_off(OLD)
    ok(await service.cut_over(*PLACE, Gate()))
    first = shelf.corpus

    ok(await service.rebuild(*PLACE))
    await shelf.work_off(OLD)

    documents = [shelf.document(n).id for n in range(5)]
    assert ok(await shelf.stores.vectors.delete(first.index, documents)) == 0
    assert ok(await shelf.stores.keywords.delete(first.index, documents)) == 0
    assert await shelf.found("question4") >= {"d000004"}


async def test_an_index_whose_model_is_gone_is_not_taken_back(shelf: Shelf) -> None:
    await shelf.fill(2)
    service = shelf.service(NEW)
    ok(await service.rebuild(*PLACE))
    await shelf.work_off(NEW, OLD)
    ok(await service.cut_over(*PLACE, Gate()))
    alone = type(service)(
        service.rebuilds, service.documents, service.clock, NEW.version, frozenset({NEW.version})
    )

    err(await alone.roll_back(*PLACE), ConflictError)


async def test_an_empty_corpus_is_ready_at_once(shelf: Shelf) -> None:
    await shelf.fill(0)
    service = shelf.service(NEW)
    begun = ok(await service.rebuild(*PLACE))
    assert begun.projected_end(begun.since) is None

    await shelf.work_off(NEW, OLD)

    assert ok(await service.under_way(*PLACE)).state is RebuildState.READY
