"""Which rows of an index a predicate admits, decided once for all rows with the same readers."""

import numpy as np
import numpy.typing as npt

from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate, admits
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import IndexId, labels

Flags = npt.NDArray[np.bool_]

GONE = 0
"""The number of rows that are there no more; those that nobody may read have a number like any other."""


class ReaderClasses:
    """The distinct sets of readers in one index, numbered in the order of their coming.

    One thread may number while others ask: numbers are never changed and never used again.
    """

    def __init__(self, index: IndexId) -> None:
        self._index = index
        self._labels = [labels(index.tenant_id, index.corpus_id, frozenset())]
        self._numbers: dict[frozenset[ReaderToken], int] = {}
        self._holding: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._labels)

    def number_of(self, readers: frozenset[ReaderToken]) -> int:
        """Return the number of a set of readers, a new one where it was not seen before."""
        known = self._numbers.get(readers)
        if known is not None:
            return known
        number = len(self._labels)
        self._labels.append(labels(self._index.tenant_id, self._index.corpus_id, readers))
        for token in readers:
            self._holding.setdefault(token, []).append(number)
        self._numbers[readers] = number
        return number

    def admitted(self, predicate: Predicate, count: int) -> Flags:
        """Return, for each of the first `count` classes, whether its rows satisfy `predicate`."""
        flags: Flags = np.zeros(count, np.bool_)
        match predicate:
            case All(parts) if parts:
                flags |= np.logical_and.reduce([self.admitted(part, count) for part in parts])
            case Overlaps("readers", values):
                flags |= self._sharing(values, count)
            case NoneOf("readers", values):
                flags |= ~self._sharing(values, count)
            case Eq("readers", _) | OneOf("readers", _):
                flags |= [admits(predicate, found) for found in self._labels[:count]]
            case _:
                flags |= admits(predicate, self._labels[GONE])
        return flags

    def _sharing(self, values: frozenset[str], count: int) -> Flags:
        flags: Flags = np.zeros(count, np.bool_)
        found = [number for value in values for number in self._holding.get(value, ())]
        flags[[number for number in found if number < count]] = True
        return flags
