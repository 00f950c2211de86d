"""How well a passage fits, by numbers that no hidden passage can move.

BM25 as engines have it counts over the whole index: what a reader may not see changes the order of what
he may. Here the part that is the passage's own (how often a term stands in it, and how long it is) is
written with each term as one of `LEVELS` steps, and the part that is the collection's (how rare the term is)
is counted at query time among the visible passages. Scores are whole numbers, exact in the engine's 32-bit
floats, so that no order of summing moves them either.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

LEVELS = 8
SATURATION = 1.2
LENGTH_WEIGHT = 0.75
USUAL_LENGTH = 250
"""Terms of a passage: a constant, since the mean of an index would depend on what is hidden in it."""

LONGEST_QUESTION = 256
"""Terms; what comes later in a question is left out."""

RARITY_STEPS = 100
"""Whole-number steps of a logarithm."""

_SPACE = re.compile(r"\s")


def written(terms: Iterable[str]) -> str:
    """Return the text that is indexed for a passage: each of its terms with its level, parted by spaces."""
    counts = Counter(terms)
    length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * counts.total() / USUAL_LENGTH
    words = [f"{_level(count, length)}{term}" for term, count in counts.items() if term]
    text = " ".join(words)
    if text.split() != words:
        text = " ".join(_SPACE.sub("\u2420", word) for word in words)
    return text.encode(errors="replace").decode()


def at_every_level(term: str) -> list[str]:
    """Return what a term may be written as, by rising level."""
    term = _SPACE.sub("\u2420", term).encode(errors="replace").decode()
    return [f"{level}{term}" for level in range(1, LEVELS + 1)]


def asked(terms: Sequence[str]) -> Counter[str]:
    """Return the terms of a question, and how often each is asked for."""
    return Counter(term for term in terms[:LONGEST_QUESTION] if term)


def rarity(visible: int, holding: int) -> int:
    """Return what a term weighs that `holding` of the `visible` passages have; at least 1."""
    return max(1, round(RARITY_STEPS * log(1 + (visible - holding + 0.5) / (holding + 0.5))))


def _level(count: int, length: float) -> int:
    return max(1, round(LEVELS * count / (count + SATURATION * length)))
