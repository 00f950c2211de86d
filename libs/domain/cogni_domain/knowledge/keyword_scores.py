"""How well a passage fits, by numbers that no hidden passage can move.

BM25 as engines have it counts over the whole index: what a reader may not see changes the order of what
he may. Here the part that is the passage's own (how often a term stands in it, and how long it is) is
kept with each term as one of `LEVELS` steps, and the part that is the collection's (how rare the term is)
is counted at query time among the visible passages. Scores are whole numbers below 2^24, exact in an engine's
32-bit floats, so that no order of summing moves them either.

Source:
    docs/adr/0003-keyword-scores.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from math import log

from cogni_kernel import ChunkId

LEVELS = 8
SATURATION = 1.2
LENGTH_WEIGHT = 0.75
USUAL_LENGTH = 250
"""Terms of a passage: a constant, since the mean of an index would depend on what is hidden in it."""

LONGEST_QUESTION = 256
"""Terms; what comes later in a question is left out."""

RARITY_STEPS = 100
"""Whole-number steps of a logarithm."""

_LIGHTEST = 16
"""Terms that weigh less than the heaviest divided by this are left out while others give enough hits."""


def levels(terms: Iterable[str]) -> Mapping[str, int]:
    """Return each term of a passage with its step, 1 to LEVELS."""
    counts = Counter(terms)
    length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * counts.total() / USUAL_LENGTH
    return {term: _level(count, length) for term, count in counts.items() if term}


def asked(terms: Sequence[str]) -> Counter[str]:
    """Return the terms of a question, and how often each is asked for."""
    return Counter(term for term in terms[:LONGEST_QUESTION] if term)


def rarity(visible: int, holding: int) -> int:
    """Return what a term weighs that `holding` of the `visible` passages have; at least 1."""
    return max(1, round(RARITY_STEPS * log(1 + (visible - holding + 0.5) / (holding + 0.5))))


def weights(question: Counter[str], visible: int, holding: Mapping[str, int]) -> dict[str, int]:
    """Return what each term weighs that some of the visible passages hold."""
    return {
        term: times * rarity(visible, holding[term])
        for term, times in question.items()
        if holding.get(term)
    }


def heavy(weighed: Mapping[str, int]) -> dict[str, int]:
    """Return the terms that decide: they are searched first, and the others where these give too few."""
    least = max(weighed.values(), default=0) / _LIGHTEST
    return {term: weight for term, weight in weighed.items() if weight >= least}


def tie(chunk: ChunkId) -> int:
    """Return the number that orders equal scores, 0 to 2^64 - 1: one order in every index."""
    return _number(str(chunk))


def term_number(term: str) -> int:
    """Return a number for a term, 0 to 2^64 - 1, where an engine could take a term's text for something else."""
    return _number(term)


def _number(text: str) -> int:
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def score(points: float) -> float:
    """Return what a hit is given for its sum of weights times levels."""
    return points / (LEVELS * RARITY_STEPS)


def _level(count: int, length: float) -> int:
    return max(1, round(LEVELS * count / (count + SATURATION * length)))
