"""What every `VectorStorePort` promises of who finds what."""

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
import pytest

from cogni_domain.access.predicate import admits
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.knowledge.corpus import Chunk, Document, IndexId
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import CorpusId, DocumentId, TenantId
from cogni_testing.assertions import ok
from cogni_testing.contracts.knowledge import (
    ACME,
    ALICE,
    EVERYONE,
    GLOBEX,
    HANDBOOK,
    HR,
    HR_LEADS,
    IN_10_000_GROUPS,
    IN_HR,
    IN_HR_AND_LEADS,
    NOBODY,
    TICKETS,
    a_document,
    passages,
)
from cogni_testing.contracts.predicates import MANY_RULES, many_predicates, rule_document
from cogni_testing.fixtures import fake_principal, fake_scope

INDEX = IndexId(ACME, HANDBOOK)
FOR_ALICE = fake_scope(ALICE)


def towards(*angles: float) -> Vectors:
    """Return unit vectors in a plane; the nearer two angles are, the higher the score."""
    return np.array([(np.cos(a), np.sin(a), 0.0) for a in angles], np.float32)


NORTH = towards(0.0)


class VectorReachContract(ABC):
    """A scope decides inside the search, and an index is one tenant's corpus alone."""

    @abstractmethod
    async def make_store(self) -> VectorStorePort:
        """Return a store with nothing in it."""

    async def put(
        self,
        store: VectorStorePort,
        document: Document,
        *angles: float,
        index: IndexId = INDEX,
    ) -> list[Chunk]:
        """Write a document's passages, one for each angle."""
        chunks = passages(document, *map(str, angles))
        assert ok(await store.upsert(index, chunks, towards(*angles))) == len(chunks)
        return chunks

    async def found(
        self,
        store: VectorStorePort,
        scope: Scope = FOR_ALICE,
        *,
        k: int = 10,
        vector: Vectors = NORTH,
        index: IndexId = INDEX,
    ) -> list[str]:
        """Return the ids of the nearest passages, best first."""
        hits = ok(await store.knn(index, vector, scope.predicate, k))
        return [str(hit.chunk_id) for hit in hits]

    async def test_the_predicate_is_applied_before_k(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document("theirs", HR), *[0.0] * 50)
        await self.put(store, a_document("ours"), 3.0)

        assert await self.found(store, k=1) == ["ours:1:0"]

    @pytest.mark.parametrize("one_in", [10, 100, 1_000])
    async def test_a_rare_reader_gets_k_or_all_there_are(self, one_in: int) -> None:
        store = await self.make_store()
        random = np.random.default_rng(one_in)
        vectors = random.standard_normal((3_000, 8)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        chunks = []
        for number in range(300):
            document = a_document(f"d{number}")
            readers = [NOBODY if (number * 10 + n) % one_in else HR for n in range(10)]
            chunks += [
                replace(chunk, readers=rule.readers)
                for chunk, rule in zip(passages(document, *"0123456789"), readers, strict=True)
            ]
        ok(await store.upsert(INDEX, chunks, vectors))
        visible = [n for n in range(3_000) if n % one_in == 0]

        for question in vectors[:20]:
            hits = ok(await store.knn(INDEX, question[None], fake_scope(IN_HR).predicate, 20))
            exact = sorted(visible, key=lambda n: -float(vectors[n] @ question))
            assert {h.chunk_id for h in hits} == {chunks[n].id for n in exact[:20]}

    @pytest.mark.parametrize(
        ("rule", "principal", "may_find"),
        [
            (HR, IN_HR, True),
            (HR, ALICE, False),
            (HR, IN_10_000_GROUPS, True),
            (NOBODY, ALICE, False),
            (
                AccessRule.any_of("a:site=berlin"),
                fake_principal(attributes={"site": "berlin"}),
                True,
            ),
            (AccessRule.any_of("a:site=berlin"), ALICE, False),
            (HR_LEADS, IN_HR_AND_LEADS, True),
            (HR_LEADS, IN_HR, False),
            (HR.except_for("u:helen"), IN_HR, False),
            (HR.except_for("u:helen"), IN_HR_AND_LEADS, True),
        ],
    )
    async def test_who_may_read_finds_and_nobody_else(
        self, rule: AccessRule, principal: Principal, *, may_find: bool
    ) -> None:
        store = await self.make_store()
        await self.put(store, a_document(rule=rule), 0.0)

        scope = fake_scope(principal, rules=[rule] if rule.is_compound else [])
        assert await self.found(store, scope) == (["leave:1:0"] if may_find else [])

    async def test_any_predicate_finds_what_the_reference_admits(self) -> None:
        store = await self.make_store()
        chunks = [c for rule in MANY_RULES for c in await self.put(store, rule_document(rule), 0.0)]

        for predicate in many_predicates():
            hits = ok(await store.knn(INDEX, NORTH, predicate, 100))
            admitted = {c.id for c in chunks if admits(predicate, c.labels())}
            assert {hit.chunk_id for hit in hits} == admitted, predicate

    async def test_an_index_holds_one_tenants_corpus_in_one_generation(self) -> None:
        store = await self.make_store()
        others = (
            IndexId(GLOBEX, HANDBOOK),
            IndexId(ACME, TICKETS),
            IndexId(ACME, HANDBOOK, generation=2),
        )
        for index in others:
            document = a_document(tenant=index.tenant_id, corpus=index.corpus_id)
            await self.put(store, document, 0.0, index=index)

        assert await self.found(store) == []
        assert ok(await store.delete(INDEX, [DocumentId("leave")])) == 0
        assert ok(await store.relabel(INDEX, DocumentId("leave"), HR.readers)) == 0
        scope = fake_scope(corpora=[str(HANDBOOK), str(TICKETS)])
        assert await self.found(store, scope, index=others[1]) == ["leave:1:0"]
        assert await self.found(store, scope, index=others[2]) == ["leave:1:0"]

    @pytest.mark.parametrize(
        "scope",
        [
            fake_scope(fake_principal(tenant=str(GLOBEX))),
            fake_scope(corpora=[str(TICKETS)]),
            fake_scope(corpora=[]),
        ],
    )
    async def test_a_scope_that_is_not_of_the_index_finds_nothing(self, scope: Scope) -> None:
        store = await self.make_store()
        await self.put(store, a_document(), 0.0)

        assert await self.found(store, scope) == []

    @pytest.mark.parametrize(("tenant", "corpus"), [(GLOBEX, HANDBOOK), (ACME, TICKETS)])
    async def test_a_passage_of_another_place_is_never_found_in_an_index(
        self, tenant: TenantId, corpus: CorpusId
    ) -> None:
        store = await self.make_store()
        stray = replace(passages(a_document())[0], tenant_id=tenant, corpus_id=corpus)

        await store.upsert(INDEX, [stray], NORTH)

        assert await self.found(store) == []

    async def test_other_readers_hold_at_once(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document(), 0.1, 0.2)
        await self.put(store, a_document("other"), 0.3)
        leave = DocumentId("leave")

        assert ok(await store.relabel(INDEX, leave, HR.readers)) == 2
        assert ok(await store.relabel(INDEX, leave, HR.readers)) == 0

        assert await self.found(store) == ["other:1:0"]
        assert await self.found(store, fake_scope(IN_HR), k=1) == ["leave:1:0"]

    async def test_many_documents_get_the_same_readers_at_once(self) -> None:
        store = await self.make_store()
        for name in ("leave", "other", "third"):
            await self.put(store, a_document(name), 0.1, 0.2)
        names = [DocumentId(name) for name in ("leave", "other", "never", "leave")]

        assert ok(await store.relabel_all(INDEX, names, HR.readers)) == 4
        assert ok(await store.relabel_all(INDEX, names, HR.readers)) == 0

        assert {name.partition(":")[0] for name in await self.found(store)} == {"third"}
        assert len(await self.found(store, fake_scope(IN_HR))) == 6

    async def test_what_nobody_may_read_can_be_given_to_somebody(self) -> None:
        store = await self.make_store()
        await self.put(store, a_document(rule=NOBODY), 0.1)
        assert await self.found(store) == []

        assert ok(await store.relabel(INDEX, DocumentId("leave"), EVERYONE.readers)) == 1

        assert await self.found(store) == ["leave:1:0"]
