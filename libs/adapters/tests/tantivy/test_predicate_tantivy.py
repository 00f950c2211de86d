"""The compiled predicate admits exactly what the reference evaluator does."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate, admits
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk
from cogni_kernel import CorpusId, DocumentId, TenantId
from cogni_testing.assertions import ok
from cogni_testing.contracts.keyword_matching import INDEX
from cogni_testing.contracts.knowledge import a_document, passages

PLACES = st.sampled_from(["acme", "globex", "a\x00"])
TOKENS = st.sampled_from(["everyone", "u:1", "g:w/x", "g:w/x\x00", "g:w/'", "g:w/X"])
MANY = frozenset(f"g:many/{number}" for number in range(100))
VALUES = st.frozensets(PLACES | TOKENS, max_size=4).flatmap(
    lambda some: st.sampled_from([some, some | MANY])
)
FIELDS = st.sampled_from(["tenant", "corpus", "readers", "only_reader", "colour"])

predicates: st.SearchStrategy[Predicate] = st.recursive(
    st.builds(Eq, FIELDS, PLACES | TOKENS)
    | st.builds(OneOf, FIELDS, VALUES)
    | st.builds(Overlaps, FIELDS, VALUES)
    | st.builds(NoneOf, FIELDS, VALUES),
    lambda parts: st.builds(All, st.lists(parts, max_size=3).map(tuple)),
    max_leaves=6,
)


@st.composite
def labelled(draw: st.DrawFn) -> list[Chunk]:
    return [
        replace(
            passages(a_document(f"d{number}"))[0],
            tenant_id=TenantId(draw(PLACES)),
            corpus_id=CorpusId(draw(PLACES)),
            readers=frozenset(map(ReaderToken, draw(st.frozensets(TOKENS, max_size=3)))),
        )
        for number in range(draw(st.integers(1, 12)))
    ]


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TantivyKeywordSearchAdapter]:
    folder: Path = tmp_path_factory.mktemp("predicates")
    adapter = TantivyKeywordSearchAdapter(folder)
    yield adapter
    asyncio.run(adapter.close())


async def found(
    search: TantivyKeywordSearchAdapter, chunks: Sequence[Chunk], some: Sequence[Predicate]
) -> list[set[DocumentId]]:
    ok(await search.delete(INDEX, [DocumentId(f"d{number}") for number in range(12)]))
    ok(await search.upsert(INDEX, chunks, [["leave"]] * len(chunks)))
    answers = [ok(await search.search(INDEX, ["leave"], each, 100)) for each in some]
    return [{hit.document_id for hit in hits} for hits in answers]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=50, deadline=None)
@given(labelled(), st.lists(predicates, min_size=20, max_size=20))
def test_a_compiled_predicate_admits_what_the_reference_admits(
    search: TantivyKeywordSearchAdapter, chunks: list[Chunk], some: list[Predicate]
) -> None:
    expected = [{c.document_id for c in chunks if admits(each, c.labels())} for each in some]

    assert asyncio.run(found(search, chunks, some)) == expected


@pytest.mark.parametrize("predicate", [All(()), All((All(()),)), Overlaps("readers", frozenset())])
async def test_a_lost_filter_opens_nothing(
    search: TantivyKeywordSearchAdapter, predicate: Predicate
) -> None:
    assert await found(search, [passages(a_document("d0"))[0]], [predicate]) == [set()]
