"""What every `RebuildStorePort` promises."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta

from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.knowledge.rebuild import Rebuild, RebuildState
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_domain.ports.rebuild_store import RebuildStorePort
from cogni_kernel import CorpusId, DocumentId, NotFoundError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import ACME, GLOBEX, HANDBOOK, a_document
from cogni_testing.doubles import START

OLD, NEW = "old@1", "new@1"
LATER = START + timedelta(minutes=1)


def a_corpus(id_: CorpusId = HANDBOOK) -> Corpus:
    """Return a corpus that the old model wrote."""
    return Corpus(id_, ACME, str(id_), IndexId(ACME, id_), OLD)


def a_job(key: str) -> Job:
    """Return a job of a rebuild."""
    return Job("fill", ACME, key, {})


def one_job(rebuild: Rebuild, released: Rebuild | None) -> Sequence[Job]:
    """Return a job that says which rebuild begins and which one it releases."""
    return [a_job(f"{rebuild.generation}@{rebuild.step} after {released and released.generation}")]


class RebuildStoreContract(ABC):
    """Many try, one does."""

    @abstractmethod
    async def make_rebuilds(self) -> RebuildStorePort:
        """Return a store; a second call in one test returns another over the same rows."""

    @abstractmethod
    async def make_documents(self) -> DocumentStorePort:
        """Return the documents that it stands on."""

    @abstractmethod
    async def make_queue(self) -> QueuePort:
        """Return the lanes that it adds to."""

    async def begun(self, version: str = NEW) -> tuple[RebuildStorePort, Rebuild]:
        """Return a store with a rebuild that has just begun."""
        ok(await (await self.make_documents()).put_corpus(a_corpus()))
        store = await self.make_rebuilds()
        return store, ok(await store.begin(a_corpus(), version, START, one_job))

    async def ready(self) -> tuple[RebuildStorePort, Rebuild]:
        """Return a store with a rebuild that is ready."""
        store, rebuild = await self.begun()
        assert ok(await store.advance(rebuild, [], LATER, []))
        return store, await self.current(store)

    async def current(self, store: RebuildStorePort) -> Rebuild:
        """Return the rebuild that is under way."""
        found = ok(await store.under_way(ACME, HANDBOOK))
        assert found is not None
        return found

    async def serving(self) -> tuple[int, str]:
        """Return which index serves, and its model."""
        [corpus] = ok(await (await self.make_documents()).corpora(ACME))
        return corpus.index.generation, corpus.embedder_version

    async def jobs(self) -> list[str]:
        """Return the keys of the jobs that wait."""
        found = await (await self.make_queue()).dequeue(Lane.INDEXING, timedelta(0), 99)
        return [leased.job.key for leased in ok(found)]

    async def test_a_rebuild_is_of_the_index_that_serves(self) -> None:
        documents = await self.make_documents()
        ok(await documents.put_corpus(a_corpus()))
        ok(await documents.put(a_document("a"), [], []))
        store, rebuild = await self.begun()

        assert (rebuild.previous, rebuild.previous_embedder) == (1, OLD)
        assert (rebuild.generation, rebuild.embedder_version) == (2, NEW)
        assert (rebuild.state, rebuild.done, rebuild.total) == (RebuildState.FILLING, 0, 1)
        assert await self.current(store) == rebuild
        assert await self.jobs() == ["2@0 after None"]
        assert await self.serving() == (1, OLD)

    async def test_a_corpus_that_is_not_there_cannot_be_rebuilt(self) -> None:
        store = await self.make_rebuilds()

        err(await store.begin(a_corpus(), NEW, START, one_job), NotFoundError)
        assert ok(await store.under_way(ACME, HANDBOOK)) is None
        assert await self.jobs() == []

    async def test_a_rebuild_that_is_under_way_goes_on(self) -> None:
        store, rebuild = await self.begun()

        assert ok(await store.begin(a_corpus(), NEW, LATER, one_job)) == rebuild
        assert await self.jobs() == ["2@0 after None"]

    async def test_another_model_begins_anew_and_no_generation_comes_twice(self) -> None:
        store, _ = await self.begun()

        rebuild = ok(await store.begin(a_corpus(), "newer@1", LATER, one_job))

        assert (rebuild.generation, rebuild.previous) == (3, 1)
        assert await self.current(store) == rebuild
        assert await self.jobs() == ["2@0 after None", "3@0 after 2"]

    async def test_a_batch_is_counted_once(self) -> None:
        store, rebuild = await self.begun()
        written = [DocumentId("a"), DocumentId("b")]

        counted = [
            ok(await store.advance(rebuild, written, LATER, [a_job(f"next {n}")])) for n in range(3)
        ]

        now = await self.current(store)
        assert counted == [True, False, False]
        assert (now.step, now.done, now.after) == (1, 2, "b")
        assert await self.jobs() == ["2@0 after None", "next 0"]

    async def test_what_has_nothing_left_to_do_is_ready(self) -> None:
        store, rebuild = await self.ready()

        assert (rebuild.state, rebuild.since) == (RebuildState.READY, LATER)
        assert not ok(await store.advance(rebuild, [], LATER, [a_job("more")]))

    async def test_of_many_cutovers_one_moves_the_pointer(self) -> None:
        store, rebuild = await self.ready()
        others = [store, *[await self.make_rebuilds() for _ in range(3)]]

        moved = await asyncio.gather(*(each.cut_over(rebuild, LATER) for each in others))

        assert sorted(map(ok, moved)) == [False, False, False, True]
        assert await self.serving() == (2, NEW)
        assert (await self.current(store)).state is RebuildState.SERVING

    async def test_what_is_not_ready_does_not_serve(self) -> None:
        store, rebuild = await self.begun()

        assert not ok(await store.cut_over(rebuild, LATER))
        assert not ok(await store.roll_back(rebuild, LATER))
        assert await self.serving() == (1, OLD)

    async def test_a_rollback_lets_the_former_index_serve_until_the_next_cutover(self) -> None:
        store, rebuild = await self.ready()
        ok(await store.cut_over(rebuild, LATER))

        assert ok(await store.roll_back(rebuild, LATER))
        assert not ok(await store.roll_back(rebuild, LATER))
        assert await self.serving() == (1, OLD)
        assert ok(await store.cut_over(rebuild, LATER))
        assert await self.serving() == (2, NEW)

    async def test_the_next_rebuild_releases_the_one_that_serves(self) -> None:
        store, rebuild = await self.ready()
        ok(await store.cut_over(rebuild, LATER))

        following = ok(await store.begin(a_corpus(), NEW, LATER, one_job))

        assert (following.generation, following.previous) == (3, 2)
        assert following.previous_embedder == NEW
        assert not ok(await store.roll_back(rebuild, LATER))
        assert await self.serving() == (2, NEW)

    async def test_documents_come_by_id_page_after_page(self) -> None:
        store, _ = await self.begun()
        documents = await self.make_documents()
        for name in ("c", "a", "b"):
            ok(await documents.put(a_document(name), [], []))

        first = ok(await store.documents(ACME, HANDBOOK, "", 2))
        second = ok(await store.documents(ACME, HANDBOOK, "b", 2))

        assert (first, second) == ([DocumentId("a"), DocumentId("b")], [DocumentId("c")])
        assert ok(await store.documents(GLOBEX, HANDBOOK, "", 2)) == []
