"""What a host's own tools say to people, in the languages that its people speak."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from cogni_surfaces.texts import Language

_BLANK = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class HostWords:
    """A small table for each language, from the words as the tools have them to those that people read.

    A sentence may have blanks: `{days} working days` stands for any number of them, and what fills a blank is looked
    up in its turn. The names of tools and of their arguments stand in the same table, as they are declared.

    Attributes:
        tables: By language tag.

    >>> words = HostWords({"de": {"{n} days": "{n} Tage", "first_day": "Erster Tag"}})
    >>> words.said("3 days", Language.DE), words.names(Language.DE)
    ('3 Tage', {'first_day': 'Erster Tag'})
    """

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def said(self, text: str, language: Language) -> str:
        """Return a tool's sentence in a language; one that has no translation stays as it is."""
        return _said(text, self.tables.get(language.value, {}), _DEEPEST)

    def names(self, language: Language) -> dict[str, str]:
        """Return what tools and their arguments are called in a language."""
        table = self.tables.get(language.value, {})
        return {name: said for name, said in table.items() if _NAME.fullmatch(name)}


def _said(text: str, table: Mapping[str, str], depth: int) -> str:
    if (known := table.get(text)) is not None:
        return known
    if depth == 0:
        return text
    for sentence, translated in table.items():
        if "{" in sentence and (match := _pattern(sentence).fullmatch(text)):
            filled = {
                name: _said(part, table, depth - 1) for name, part in match.groupdict().items()
            }
            return _BLANK.sub(lambda blank, by=filled: by.get(blank[1], ""), translated)  # type: ignore[misc]
    return text


@lru_cache(maxsize=1024)
def _pattern(sentence: str) -> re.Pattern[str]:
    """Return what recognises a sentence with blanks; each blank is filled with something."""
    parts = _BLANK.split(sentence)  # every second one is the name of a blank
    written = (f"(?P<{part}>.+?)" if n % 2 else re.escape(part) for n, part in enumerate(parts))
    return re.compile("".join(written))
