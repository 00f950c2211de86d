"""What every `VectorStorePort` promises."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from cogni_domain.access.rule import AccessRule
from cogni_kernel import DocumentId, InvalidArgumentError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import (
    HOSTILE_TEXTS,
    HR,
    a_document,
    passages,
)
from cogni_testing.contracts.vector_reach import (
    FOR_ALICE,
    INDEX,
    NORTH,
    VectorReachContract,
    towards,
)
from cogni_testing.fixtures import fake_principal, fake_scope


class VectorStoreContract(VectorReachContract):
    """Nearest neighbours among what a scope admits, and nothing of anything else."""

    async def test_an_index_that_nothing_was_written_to_has_nothing(self) -> None:
        store = await self.make_store()

        assert await self.found(store) == []
        assert ok(await store.delete(INDEX, [DocumentId("leave")])) == 0
        assert ok(await store.relabel(INDEX, DocumentId("leave"), HR.readers)) == 0
        assert ok(await store.upsert(INDEX, [], np.empty((0, 3), np.float32))) == 0

    async def test_the_nearest_come_first_with_their_scores(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document(), 1.2, 0.3, 2.5)

        hits = ok(await store.knn(INDEX, NORTH, FOR_ALICE.predicate, 2))

        assert [(str(h.chunk_id), str(h.document_id)) for h in hits] == [
            ("leave:1:1", "leave"),
            ("leave:1:0", "leave"),
        ]
        assert [h.score for h in hits] == pytest.approx([np.cos(0.3), np.cos(1.2)], abs=1e-4)

    async def test_equal_passages_come_by_id(self) -> None:
        store = await self.make_store()
        for name in ("b", "c", "a", "d"):
            await self.put(store, a_document(name), 0.5)

        assert await self.found(store, k=3) == ["a:1:0", "b:1:0", "c:1:0"]

    async def test_all_there_are_come_where_they_are_fewer_than_k(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document(), 0.1, 0.2)

        assert await self.found(store, k=1_000) == ["leave:1:0", "leave:1:1"]

    async def test_writing_twice_is_writing_once(self) -> None:
        store = await self.make_store()
        for _ in range(2):
            await self.put(store, a_document(), 0.1, 0.2)

        assert await self.found(store) == ["leave:1:0", "leave:1:1"]

    async def test_a_document_is_replaced_whole_and_others_stay(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document(), 0.1, 0.2, 0.3)
        await self.put(store, a_document("other"), 0.4)

        await self.put(store, a_document(version=2), 0.5)

        assert await self.found(store) == ["other:1:0", "leave:2:0"]

    async def test_many_documents_come_in_one_call(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document("a"), 0.1)
        chunks = [
            chunk
            for name in ("a", "b")
            for chunk in passages(a_document(name, version=2), "one", "two")
        ]

        ok(await store.upsert(INDEX, chunks, towards(0.1, 0.2, 0.3, 0.4)))

        assert await self.found(store) == ["a:2:0", "a:2:1", "b:2:0", "b:2:1"]

    async def test_what_is_deleted_is_not_found(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document("a"), 0.1, 0.2)
        await self.put(store, a_document("b"), 0.3)
        both = [DocumentId("a"), DocumentId("never-there")]

        assert ok(await store.delete(INDEX, both)) == 2
        assert ok(await store.delete(INDEX, both)) == 0

        assert await self.found(store) == ["b:1:0"]

    @pytest.mark.parametrize("k", [-1, 0, 1_001])
    async def test_a_k_out_of_range_is_refused(self, k: int) -> None:
        store = await self.make_store()

        err(await store.knn(INDEX, NORTH, FOR_ALICE.predicate, k), InvalidArgumentError)

    async def test_vectors_of_another_dimension_are_refused_and_change_nothing(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document(), 0.1)
        longer = np.eye(1, 4, dtype=np.float32)

        err(await store.knn(INDEX, longer, FOR_ALICE.predicate, 1), InvalidArgumentError)
        err(
            await store.upsert(INDEX, passages(a_document(version=2)), longer),
            InvalidArgumentError,
        )

        assert await self.found(store) == ["leave:1:0"]

    async def test_ids_that_look_alike_are_different(self) -> None:
        store = await self.make_store()
        for text in HOSTILE_TEXTS:
            await self.put(store, a_document(text, AccessRule.any_of(f"u:{text}")), 0.1)

        for text in HOSTILE_TEXTS:
            assert await self.found(store, fake_scope(fake_principal(id=text))) == [f"{text}:1:0"]
        assert ok(await store.delete(INDEX, [DocumentId("a")])) == 1
        other = fake_scope(fake_principal(id="a\u0000"))
        assert await self.found(store, other) == ["a\u0000:1:0"]

    async def test_a_search_beside_writes_finds_what_is_allowed_and_nothing_else(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document("always"), 0.0)
        await self.put(store, a_document("never", HR), 0.0)

        async def write() -> None:
            for version in range(1, 20):
                document = a_document(f"d{version % 3}", HR, version=version)
                await self.put(store, document, *[0.1] * (version % 4 + 1))
                ok(await store.delete(INDEX, [DocumentId(f"d{(version + 1) % 3}")]))

        async def search() -> Sequence[list[str]]:
            return [await self.found(store) for _ in range(20)]

        _, *searches = await asyncio.gather(write(), search(), search())

        assert all(found == ["always:1:0"] for each in searches for found in each)
