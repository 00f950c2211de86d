"""The words that an index holds for terms: a term behind its level, `4leave`."""

import re
from collections.abc import Iterable

from cogni_domain.knowledge.keyword_scores import LEVELS, levels

_SPACE = re.compile(r"\s")


def written(terms: Iterable[str]) -> str:
    """Return the text that is indexed for a passage: each of its terms with its level, parted by spaces."""
    words = [f"{level}{term}" for term, level in levels(terms).items()]
    text = " ".join(words)
    if text.split() != words:
        text = " ".join(_SPACE.sub("\u2420", word) for word in words)
    return text.encode(errors="replace").decode()


def at_every_level(term: str) -> list[str]:
    """Return what a term may be written as, by rising level."""
    term = _SPACE.sub("\u2420", term).encode(errors="replace").decode()
    return [f"{level}{term}" for level in range(1, LEVELS + 1)]
