from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.corpus import Chunk, ScoredChunk, chunk_id
from cogni_domain.knowledge.ranking import PLACE_COST, diversify, fuse, settle
from cogni_kernel import ChunkId, CorpusId, DocumentId, TenantId

ids = st.sampled_from([ChunkId(letter) for letter in "abcdefghij"])
rankings = st.lists(st.lists(ids, max_size=10), max_size=4)


def ids_of(text: str) -> list[ChunkId]:
    return [ChunkId(letter) for letter in text]


def passage(document: str, ordinal: int) -> ScoredChunk:
    name = DocumentId(document)
    place = (TenantId("acme"), CorpusId("handbook"))
    chunk = Chunk(
        chunk_id(name, 1, ordinal), name, *place, "Title", ordinal, "text", (), "", frozenset(), 1
    )
    return ScoredChunk(chunk, 1.0 / (ordinal + 1))


passages = st.lists(st.builds(passage, st.sampled_from("abc"), st.integers(0, 99)), max_size=20)


@given(rankings, st.integers(0, 20))
def test_every_id_comes_once_and_none_is_invented(some: list[list[ChunkId]], limit: int) -> None:
    fused = fuse(some, limit)

    assert len(fused) == len(set(fused)) == min(limit, len({i for r in some for i in r}))
    assert set(fused) <= {i for r in some for i in r}


@given(rankings)
def test_the_order_of_the_rankings_makes_no_difference(some: list[list[ChunkId]]) -> None:
    assert len({tuple(fuse(order, 10)) for order in permutations(some)}) == 1


@given(rankings, st.integers(0, 10))
def test_a_limit_cuts_the_end_off(some: list[list[ChunkId]], limit: int) -> None:
    assert fuse(some, limit) == fuse(some, 10)[:limit]


@given(st.lists(ids, unique=True), st.floats(0.1, 10))
def test_one_ranking_stays_as_it_is(one: list[ChunkId], weight: float) -> None:
    assert fuse([one], 10) == fuse([one], 10, weights=[weight]) == one


@given(st.lists(ids, unique=True, min_size=2), st.lists(ids, unique=True))
def test_what_is_first_in_every_ranking_is_first(one: list[ChunkId], other: list[ChunkId]) -> None:
    best = one[0]

    assert fuse([one, [best, *(i for i in other if i != best)]], 10)[0] == best


@given(rankings.filter(bool), st.data())
def test_a_better_place_never_does_harm(some: list[list[ChunkId]], data: st.DataObject) -> None:
    chosen = data.draw(ids)
    before = fuse(some, 10)
    raised = [[chosen, *(i for i in some[0] if i != chosen)], *some[1:]]

    place = before.index(chosen) if chosen in before else len(before)
    assert fuse(raised, 10).index(chosen) <= place


def test_what_both_find_goes_before_what_one_finds() -> None:
    assert fuse([ids_of("abc"), ids_of("dbe")], 3) == ids_of("bad")


def test_a_ranking_of_more_weight_decides() -> None:
    lexical, semantic = ids_of("ab"), ids_of("cd")

    assert fuse([lexical, semantic], 4, weights=[1.0, 3.0]) == ids_of("cdab")
    assert fuse([lexical, semantic], 4, weights=[3.0, 1.0]) == ids_of("abcd")


def test_a_small_constant_lets_first_places_stand_out() -> None:
    some = [ids_of("axb"), ids_of("cxd")]

    assert fuse(some, 1, constant=0) == ids_of("a")
    assert fuse(some, 1, constant=60) == ids_of("x")


def test_weights_are_as_many_as_rankings() -> None:
    with pytest.raises(ValueError, match="zip"):
        fuse([[], []], 1, weights=[1.0])


@given(passages, st.integers(1, 4))
def test_no_document_has_more_than_its_share_and_the_order_stays(
    ranked: list[ScoredChunk], most: int
) -> None:
    kept = diversify(ranked, most)
    rest = iter(ranked)

    assert all(any(one is other for other in rest) for one in kept)
    counts = Counter(one.chunk.document_id for one in ranked)
    assert Counter(one.chunk.document_id for one in kept) == {
        document: min(most, count) for document, count in counts.items()
    }


@given(passages)
def test_spreading_twice_is_spreading_once(ranked: list[ScoredChunk]) -> None:
    assert diversify(diversify(ranked)) == diversify(ranked)


def judged(*scores: tuple[str, int, float]) -> list[ScoredChunk]:
    return [ScoredChunk(passage(d, n).chunk, score) for d, n, score in scores]


def order(found: list[ScoredChunk]) -> list[ChunkId]:
    return [hit.chunk.id for hit in found]


unique_passages = st.lists(
    st.builds(passage, st.sampled_from("abc"), st.integers(0, 20)),
    unique_by=lambda hit: hit.chunk.id,
    max_size=20,
)


@given(unique_passages, st.randoms())
def test_settling_changes_nothing_but_the_order(found: list[ScoredChunk], draw: Random) -> None:
    fused = order(found)
    draw.shuffle(fused)

    settled = settle(found, fused)

    assert Counter(order(settled)) == Counter(order(found))
    assert {hit.chunk.id: hit.score for hit in settled} == {h.chunk.id: h.score for h in found}


@given(st.lists(st.floats(0, 1), max_size=10))
def test_documents_of_one_passage_stay_as_judged_where_both_orders_agree(
    scores: list[float],
) -> None:
    found = judged(*((f"d{n}", 0, s) for n, s in enumerate(sorted(scores, reverse=True))))

    assert settle(found, order(found)) == found


def test_what_both_searches_had_first_goes_before_what_is_judged_alike() -> None:
    late, early = judged(("a", 0, 0.7), ("b", 0, 0.7 - PLACE_COST / 2))

    assert settle([late, early], order([early, late])) == [early, late]


def test_what_is_judged_much_better_goes_first_wherever_the_searches_had_it() -> None:
    first, *rest = judged(("a", 0, 0.9), *((f"b{n}", 0, 0.5) for n in range(20)))

    assert settle([first, *rest], order([*rest, first]))[0] == first


def test_another_fitting_passage_of_its_document_speaks_for_a_passage() -> None:
    alone, one, other = judged(("a", 0, 0.62), ("b", 0, 0.6), ("b", 1, 0.55))

    assert settle([alone, one, other], order([alone, one, other]))[0] == one
