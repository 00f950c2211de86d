import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from cogni_adapters.database import vector_store
from cogni_adapters.database.engine import DISK_FULL, Database
from cogni_adapters.database.vector_mirror import VectorMirror
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_domain.knowledge.corpus import Document, IndexId
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import DocumentId, InvalidArgumentError, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import GLOBEX, HR, HR_LEADS, IN_HR, a_document, passages
from cogni_testing.contracts.vector_reach import FOR_ALICE, INDEX, NORTH, towards
from cogni_testing.contracts.vector_store import VectorStoreContract
from cogni_testing.fixtures import fake_scope

Open = Callable[[], Database]


class TestDatabaseVectorStore(VectorStoreContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_store(self) -> VectorStorePort:
        return DatabaseVectorStoreAdapter(self.open_database())


class TestDatabaseVectorStoreReadBefore(VectorStoreContract):
    """The same of a store whose mirror is there from the beginning, so that every write goes to both."""

    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_store(self) -> VectorStorePort:
        store = DatabaseVectorStoreAdapter(self.open_database())
        assert await found(store) == []
        return store


async def put(store: VectorStorePort, document: Document, *angles: float) -> None:
    ok(await store.upsert(INDEX, passages(document, *map(str, angles)), towards(*angles)))


async def found(store: VectorStorePort, index: IndexId = INDEX) -> list[str]:
    hits = ok(await store.knn(index, NORTH, FOR_ALICE.predicate, 1_000))
    return [str(hit.chunk_id) for hit in hits]


async def test_everything_is_there_after_a_restart(open_database: Open) -> None:
    store = DatabaseVectorStoreAdapter(open_database())
    await put(store, a_document("a"), 0.1, 0.2)
    await put(store, a_document("b", HR_LEADS), 0.3)
    await put(store, a_document("c"), 0.4)
    before = ok(await store.knn(INDEX, NORTH, FOR_ALICE.predicate, 10))
    ok(await store.delete(INDEX, [DocumentId("c")]))
    ok(await store.relabel(INDEX, DocumentId("b"), HR.readers))

    again = DatabaseVectorStoreAdapter(open_database())

    assert ok(await again.knn(INDEX, NORTH, FOR_ALICE.predicate, 10)) == before[:2]
    hits = ok(await again.knn(INDEX, NORTH, fake_scope(IN_HR).predicate, 10))
    assert [str(hit.chunk_id) for hit in hits] == ["a:1:0", "a:1:1", "b:1:0"]


async def test_an_index_is_read_in_parts(
    open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "LOADED_AT_ONCE", 3)
    store = DatabaseVectorStoreAdapter(open_database())
    for name in "abcd":
        await put(store, a_document(name), *[0.1] * 4)

    again = DatabaseVectorStoreAdapter(open_database())

    assert await found(again) == [f"{name}:1:{n}" for name in "abcd" for n in range(4)]


async def test_a_write_while_an_index_is_read_is_not_missed(
    open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(DatabaseVectorStoreAdapter(open_database()), a_document("a"), 0.1)
    store, loading, go_on = (
        DatabaseVectorStoreAdapter(open_database()),
        threading.Event(),
        threading.Event(),
    )
    load = vector_store._load

    def slow_load(connection: sa.Connection, index: IndexId) -> VectorMirror:
        mirror = load(connection, index)
        loading.set()
        assert go_on.wait(60)
        return mirror

    monkeypatch.setattr(vector_store, "_load", slow_load)
    first = asyncio.ensure_future(found(store))
    await asyncio.to_thread(loading.wait, 60)
    writing = asyncio.ensure_future(put(store, a_document("b"), 0.2))
    await asyncio.sleep(0.05)
    go_on.set()
    await asyncio.gather(first, writing)

    assert await found(store) == ["a:1:0", "b:1:0"]


async def test_an_index_that_could_not_be_read_is_read_at_the_next_search(
    open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DatabaseVectorStoreAdapter(open_database())
    await put(store, a_document("a"), 0.1)

    with monkeypatch.context() as broken:
        broken.setattr(vector_store, "_load", _interrupted)
        err(await store.knn(INDEX, NORTH, FOR_ALICE.predicate, 1), UpstreamError)

    assert await found(store) == ["a:1:0"]


def _interrupted(*_: object) -> VectorMirror:
    raise sa.exc.OperationalError("SELECT", {}, Exception("interrupted"))


async def test_a_search_sees_each_document_whole_and_in_one_version(open_database: Open) -> None:
    store = DatabaseVectorStoreAdapter(open_database())
    await put(store, a_document("a"), 0.1, 0.1)

    async def write() -> None:
        for version in range(2, 60):
            await put(store, a_document("a", version=version), *[0.1] * (version % 5 + 1))

    writing = asyncio.ensure_future(write())
    while not writing.done():
        seen = await found(store)
        version = int(seen[0].split(":")[1])
        assert seen == [f"a:{version}:{n}" for n in range(version % 5 + 1)]
    await writing


async def test_a_write_that_was_cancelled_reaches_rows_and_mirror_alike(
    open_database: Open,
) -> None:
    store = DatabaseVectorStoreAdapter(open_database())
    await found(store)
    for number in range(20):
        writing = asyncio.ensure_future(put(store, a_document(f"d{number:02}"), 0.1))
        await asyncio.sleep(0.0005 * (number % 5))
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    await put(store, a_document("last"), 0.1)

    again = DatabaseVectorStoreAdapter(open_database())

    assert await found(store) == await found(again)


@pytest.mark.parametrize("value", [np.nan, np.inf])
async def test_what_is_no_number_is_refused(open_database: Open, value: float) -> None:
    store = DatabaseVectorStoreAdapter(open_database())
    broken = np.array([[1.0, value, 0.0]], np.float32)

    err(await store.upsert(INDEX, passages(a_document()), broken), InvalidArgumentError)
    err(await store.knn(INDEX, broken, FOR_ALICE.predicate, 1), InvalidArgumentError)

    assert await found(store) == []


@pytest.mark.parametrize("vectors", [towards(), towards(0.1, 0.2), towards(0.1)[0]])
async def test_every_passage_needs_one_vector(
    open_database: Open, vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    store = DatabaseVectorStoreAdapter(open_database())

    err(await store.upsert(INDEX, passages(a_document()), vectors), InvalidArgumentError)


async def test_a_passage_of_another_tenant_is_refused(open_database: Open) -> None:
    store = DatabaseVectorStoreAdapter(open_database())
    stray = replace(passages(a_document())[0], tenant_id=GLOBEX)

    err(await store.upsert(INDEX, [stray], NORTH), InvalidArgumentError)


async def test_a_full_disk_leaves_rows_and_mirror_as_they_were(
    open_database: Open, fill_disk: Callable[[Database], Callable[[], None]]
) -> None:
    database = open_database()
    store = DatabaseVectorStoreAdapter(database)
    await put(store, a_document("a"), 0.1)
    before = await found(store)
    free = fill_disk(database)

    many = [0.1] * 2_000
    chunks = passages(a_document("a", version=2), *map(str, many))
    error = err(await store.upsert(INDEX, chunks, towards(*many)), UpstreamError)

    assert error.message == DISK_FULL
    assert await found(store) == before
    assert await found(DatabaseVectorStoreAdapter(open_database())) == before
    free()
    assert ok(await store.upsert(INDEX, chunks, towards(*many))) == 2_000
