"""The mirror of an index equals a plain list of rows, whatever was done to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cogni_adapters.database import vector_mirror
from cogni_adapters.database.vector_classes import ReaderClasses
from cogni_adapters.database.vector_mirror import Passages, VectorMirror
from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate, admits
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import IndexId, labels
from cogni_domain.ports.embedder import Vectors
from cogni_kernel import CorpusId, InvalidArgumentError, TenantId
from cogni_testing.assertions import err, ok

INDEX = IndexId(TenantId("acme"), CorpusId("handbook"))
DIMENSION = 3
TOKENS = ("everyone", "u:1", "g:w/x", "g:w/y")

names = st.sampled_from([f"d{number}" for number in range(6)])
readers = st.frozensets(st.sampled_from(TOKENS).map(ReaderToken), max_size=3)
values = st.frozensets(st.sampled_from([*TOKENS, "acme", "handbook"]), max_size=3)
fields = st.sampled_from(["tenant", "corpus", "readers", "colour"])
predicates: st.SearchStrategy[Predicate] = st.recursive(
    st.builds(Eq, fields, st.sampled_from([*TOKENS, "acme", "handbook"]))
    | st.builds(OneOf, fields, values)
    | st.builds(Overlaps, fields, values)
    | st.builds(NoneOf, fields, values),
    lambda parts: st.builds(All, st.lists(parts, max_size=3).map(tuple)),
    max_leaves=4,
)


@given(st.lists(readers, min_size=1, max_size=6), predicates)
def test_a_class_is_admitted_when_its_readers_are(
    seen: Sequence[frozenset[ReaderToken]], predicate: Predicate
) -> None:
    classes = ReaderClasses(INDEX)
    numbers = [classes.number_of(found) for found in seen]

    flags = classes.admitted(predicate, len(classes))

    for number, found in zip(numbers, seen, strict=True):
        expected = admits(predicate, labels(INDEX.tenant_id, INDEX.corpus_id, found))
        assert flags[number] == expected


@given(st.lists(readers, min_size=2, max_size=6, unique=True), predicates)
def test_classes_that_came_later_do_not_change_the_others(
    seen: Sequence[frozenset[ReaderToken]], predicate: Predicate
) -> None:
    classes = ReaderClasses(INDEX)
    classes.number_of(seen[0])
    before = classes.admitted(predicate, len(classes))
    for found in seen[1:]:
        classes.number_of(found)

    assert list(classes.admitted(predicate, len(before))) == list(before)


@dataclass
class Row:
    chunk: str
    document: str
    readers: frozenset[ReaderToken]
    vector: Vectors = field(repr=False)


class MirrorMachine(RuleBasedStateMachine):
    """Segments of four rows, so that they fill, empty and move all the time."""

    @initialize()
    def begin(self) -> None:
        self.small = patch.object(vector_mirror, "SEGMENT_ROWS", 4)
        self.small.start()
        self.mirror = VectorMirror(INDEX)
        self.rows: list[Row] = []
        self.versions = count()

    def teardown(self) -> None:
        self.small.stop()

    @rule(written=st.dictionaries(names, st.lists(readers, max_size=5), min_size=1, max_size=4))
    def put(self, written: dict[str, list[frozenset[ReaderToken]]]) -> None:
        version = next(self.versions)
        random = np.random.default_rng(version)
        new = [
            Row(f"{name}:{version}:{at}", name, found, self.a_vector(random))
            for name, each in written.items()
            for at, found in enumerate(each)
        ]
        if not new:
            return
        self.mirror.put(
            Passages(
                [row.chunk for row in new],
                [row.document for row in new],
                [row.readers for row in new],
                np.array([row.vector for row in new]),
            )
        )
        replaced = {row.document for row in new}
        self.rows = [row for row in self.rows if row.document not in replaced] + new

    def a_vector(self, random: np.random.Generator) -> Vectors:
        """One of few directions, so that many scores are equal."""
        direction = random.integers(DIMENSION)
        return np.array([at == direction for at in range(DIMENSION)], np.float32)

    @rule(gone=st.lists(names, max_size=4))
    def remove(self, gone: list[str]) -> None:
        self.mirror.remove(gone)
        self.rows = [row for row in self.rows if row.document not in gone]

    @rule(name=names, found=readers)
    def relabel(self, name: str, found: frozenset[ReaderToken]) -> None:
        self.mirror.relabel([name], found)
        for row in self.rows:
            if row.document == name:
                row.readers = found

    @invariant()
    def whoever_is_denied_nothing_finds_all_there_is(self) -> None:
        if hasattr(self, "mirror"):
            self.search(NoneOf("readers", frozenset()), k=1_000)

    @rule(predicate=predicates, k=st.integers(1, 12))
    def some_find_something(self, predicate: Predicate, k: int) -> None:
        self.search(predicate, k)

    def search(self, predicate: Predicate, k: int) -> None:
        question = np.array([0.6, 0.8, 0.0], np.float32)
        hits = ok(self.mirror.nearest(question, predicate, k))

        visible = [
            (-float(row.vector @ question), row.chunk, row.document)
            for row in self.rows
            if admits(predicate, labels(INDEX.tenant_id, INDEX.corpus_id, row.readers))
        ]
        assert [(-h.score, str(h.chunk_id), str(h.document_id)) for h in hits] == sorted(visible)[
            :k
        ]

    @invariant()
    def little_is_kept_of_what_is_gone(self) -> None:
        if hasattr(self, "mirror"):
            kept = sum(len(segment.classes) for segment in self.mirror._snapshot.segments)
            assert kept <= 2 * len(self.rows)


TestMirror = MirrorMachine.TestCase
TestMirror.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_search_goes_on_undisturbed_in_what_it_began_with() -> None:
    mirror = VectorMirror(INDEX)
    mirror.put(passages("a", 1, rows=3))
    before = mirror._snapshot
    held = [segment.vectors.copy() for segment in before.segments]

    mirror.put(passages("b", 2, rows=4_100))
    mirror.put(passages("a", 3, rows=2))
    mirror.remove(["b"])

    assert mirror._snapshot is not before
    for segment, vectors in zip(before.segments, held, strict=True):
        assert np.array_equal(segment.vectors, vectors)
        assert list(segment.classes) == [1, 1, 1]
        assert segment.chunk_ids[:3] == ["a:1:0", "a:1:1", "a:1:2"]


def test_an_index_that_was_emptied_may_be_of_another_dimension() -> None:
    mirror = VectorMirror(INDEX)
    mirror.put(passages("a", 1, rows=3))
    mirror.remove(["a"])

    mirror.put(passages("a", 2, rows=1, dimension=5))

    everything = NoneOf("readers", frozenset())
    (hit,) = ok(mirror.nearest(np.ones(5, np.float32), everything, 3))
    assert str(hit.chunk_id) == "a:2:0"
    err(mirror.nearest(np.ones(3, np.float32), everything, 3), InvalidArgumentError)


@pytest.mark.parametrize("rows", [1, 4_095, 4_096, 4_097, 9_000])
def test_rows_of_any_number_are_found(rows: int) -> None:
    mirror = VectorMirror(INDEX)
    mirror.put(passages("a", 1, rows=rows))

    hits = ok(mirror.nearest(np.ones(3, np.float32), Eq("tenant", "acme"), rows))

    assert len({hit.chunk_id for hit in hits}) == rows


def passages(name: str, version: int, *, rows: int, dimension: int = DIMENSION) -> Passages:
    everyone = frozenset({ReaderToken("everyone")})
    return Passages(
        [f"{name}:{version}:{at}" for at in range(rows)],
        [name] * rows,
        [everyone] * rows,
        np.random.default_rng(version).standard_normal((rows, dimension)).astype(np.float32),
    )
