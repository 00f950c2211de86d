"""One index's vectors in memory, searched exactly and by many threads at once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cogni_adapters.database.vector_classes import GONE, Flags, ReaderClasses
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Hit, IndexId
from cogni_domain.ports.embedder import Vectors
from cogni_kernel import (
    ChunkId,
    DocumentId,
    Err,
    HumanText,
    InvalidArgumentError,
    Ok,
    Result,
)

SEGMENT_ROWS = 4096
OTHER_DIMENSION = HumanText("This index was written by another embedding model: rebuild it.")

_NO_ROWS: Vectors = np.empty((0, 0), np.float32)

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Passages:
    """What is added, a passage in each place: its id, document, readers and vector."""

    chunk_ids: Sequence[str]
    documents: Sequence[str]
    readers: Sequence[frozenset[ReaderToken]]
    vectors: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Up to SEGMENT_ROWS rows. No write changes what a search has in hand.

    Attributes:
        vectors: Shape (n, d): the written part of a buffer of SEGMENT_ROWS rows.
        chunk_ids: At least n.
        documents: The number of each row's document, shape (n,).
        classes: The number of each row's set of readers, or GONE; shape (n,).
    """

    vectors: Vectors
    chunk_ids: list[str]
    documents: Codes
    classes: Codes


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All rows at one moment, and how many classes there were."""

    segments: tuple[_Segment, ...]
    class_count: int


@dataclass(frozen=True, slots=True)
class _Scored:
    """The visible rows of one segment, and how near each is."""

    segment: _Segment
    rows: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float32]


class VectorMirror:
    """The rows of one index. One thread writes while any number search, each on one consistent state.

    Vectors lie in segments that are only appended to. A row that goes is marked GONE in a copy of its
    segment's classes; of a segment with more than half of its rows gone the others move to the end.

    Args:
        index: Whose rows these are.
    """

    def __init__(self, index: IndexId) -> None:
        self._classes = ReaderClasses(index)
        self._names: list[str] = []
        self._codes: dict[str, int] = {}
        self._segments: list[_Segment] = []
        self._buffer: Vectors = _NO_ROWS
        self._publish()

    def put(self, passages: Passages) -> None:
        """Add passages in place of all that their documents had."""
        self._forget(passages.documents)
        self.add(passages)

    def add(self, passages: Passages) -> None:
        """Add passages; their vectors are as long as those that are there, of any length where none are."""
        documents = np.array([self._code_of(name) for name in passages.documents], np.int32)
        classes = np.array(
            [self._classes.number_of(readers) for readers in passages.readers], np.int32
        )
        self._append(passages.vectors, passages.chunk_ids, documents, classes)
        self._publish()

    def remove(self, documents: Iterable[str]) -> None:
        """Remove all rows of the documents."""
        self._forget(documents)
        self._publish()

    def relabel(self, documents: Sequence[str], readers: frozenset[ReaderToken]) -> None:
        """Give all rows of documents other readers."""
        self._reclass(documents, self._classes.number_of(readers))
        self._publish()

    def nearest(self, vector: Vectors, predicate: Predicate, k: int) -> Result[list[Hit]]:
        """Return the `k` best rows whose labels satisfy `predicate`, by score, then by chunk id.

        Each score is computed for itself, so equal vectors score alike wherever they lie.

        Errors:
            InvalidArgumentError: The vector is not as long as those of the index.
        """
        snapshot = self._snapshot
        if any(segment.vectors.shape[1:] != vector.shape for segment in snapshot.segments[:1]):
            return Err(InvalidArgumentError(OTHER_DIMENSION))
        visible = self._classes.admitted(predicate, snapshot.class_count)
        visible[GONE] = False
        scored = [_score(segment, visible, vector) for segment in snapshot.segments]
        hits = sorted(self._hits(scored, k), key=lambda hit: (-hit.score, hit.chunk_id))
        return Ok(hits[:k])

    def _hits(self, scored: Sequence[_Scored], k: int) -> Iterator[Hit]:
        """Yield all rows that may be among the best `k`: more than `k` where scores are equal."""
        for part, enough in zip(scored, _good_enough(scored, k), strict=True):
            for row, score in zip(part.rows[enough], part.scores[enough], strict=True):
                document = self._names[part.segment.documents[row]]
                yield Hit(ChunkId(part.segment.chunk_ids[row]), DocumentId(document), float(score))

    def _forget(self, documents: Iterable[str]) -> None:
        self._reclass(documents, GONE)
        wasteful = [s for s in self._segments if 2 * np.count_nonzero(s.classes) < len(s.classes)]
        self._segments = [s for s in self._segments if s not in wasteful]
        for segment in wasteful:
            rows = np.flatnonzero(segment.classes)
            ids = [segment.chunk_ids[row] for row in rows]
            self._append(segment.vectors[rows], ids, segment.documents[rows], segment.classes[rows])

    def _reclass(self, documents: Iterable[str], new_class: int) -> None:
        """Put every row of the documents that is not gone into another class."""
        codes = [self._codes[name] for name in documents if name in self._codes]
        if not codes:
            return
        meant: Flags = np.zeros(len(self._names), np.bool_)
        meant[codes] = True
        for at, segment in enumerate(self._segments):
            rows = meant[segment.documents] & (segment.classes != GONE)
            if rows.any():
                classes = np.where(rows, np.int32(new_class), segment.classes)
                self._segments[at] = replace(segment, classes=classes)

    def _append(
        self, vectors: Vectors, chunk_ids: Sequence[str], documents: Codes, classes: Codes
    ) -> None:
        done = 0
        while done < len(chunk_ids):
            last = self._last_with_room(vectors.shape[1])
            start = len(last.classes)
            part = slice(done, done + SEGMENT_ROWS - start)
            done += len(classes[part])
            stop = start + len(classes[part])
            self._buffer[start:stop] = vectors[part]
            last.chunk_ids.extend(chunk_ids[part])
            self._segments[-1] = _Segment(
                self._buffer[:stop],
                last.chunk_ids,
                np.concatenate((last.documents, documents[part])),
                np.concatenate((last.classes, classes[part])),
            )

    def _last_with_room(self, dimension: int) -> _Segment:
        if not self._segments or len(self._segments[-1].classes) >= len(self._buffer):
            self._buffer = np.empty((SEGMENT_ROWS, dimension), np.float32)
            none = np.empty(0, np.int32)
            self._segments.append(_Segment(self._buffer[:0], [], none, none))
        return self._segments[-1]

    def _code_of(self, document: str) -> int:
        if document not in self._codes:
            self._codes[document] = len(self._names)
            self._names.append(document)
        return self._codes[document]

    def _publish(self) -> None:
        self._snapshot = _Snapshot(tuple(self._segments), len(self._classes))


def _score(segment: _Segment, visible: Flags, vector: Vectors) -> _Scored:
    rows = np.flatnonzero(visible[segment.classes])
    if 2 * len(rows) > len(segment.classes):
        return _Scored(segment, rows, np.vecdot(segment.vectors, vector)[rows])
    return _Scored(segment, rows, np.vecdot(segment.vectors[rows], vector))


def _good_enough(scored: Sequence[_Scored], k: int) -> Iterator[Flags]:
    """Yield, for each part, which rows score no less than the `k`-th best of all."""
    every = np.concatenate([part.scores for part in scored] or [np.empty(0, np.float32)])
    worst = np.partition(every, -k)[-k] if len(every) > k else -np.inf
    return (part.scores >= worst for part in scored)
