"""Text for a person and text for a model, kept apart by type."""

from dataclasses import dataclass
from typing import NewType

TokenCount = NewType("TokenCount", int)
"""Model tokens, never negative."""

CHARACTERS_PER_TOKEN = 4
"""A safe average for English prose; scripts without spaces are counted a token a character."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text whose reader is known. Use one of the two subclasses."""

    value: str

    def __str__(self) -> str:
        return self.value

    def is_blank(self) -> bool:
        """Tell whether there is nothing to read: white space and invisible characters only."""
        return not any(c.isprintable() and not c.isspace() for c in self.value)


@dataclass(frozen=True, slots=True)
class HumanText(Text):
    """Rendered to a person; may be localised. `locale` is a BCP 47 tag."""

    locale: str = "en"


@dataclass(frozen=True, slots=True)
class ModelFacingText(Text):
    """Goes into a prompt; never localised, since selection suites measure its wording."""

    def token_estimate(self) -> TokenCount:
        """Estimate the model tokens of this text."""
        return estimate_tokens(self.value)


def estimate_tokens(text: str) -> TokenCount:
    """Estimate tokens without a tokenizer: 4 characters each, wide scripts 1 each; never 0 for text.

    >>> estimate_tokens("what is the policy")
    5
    """
    wide = 0 if text.isascii() else sum(ord(c) >= 0x2E80 for c in text)
    narrow = len(text) - wide
    return TokenCount(wide + -(-narrow // CHARACTERS_PER_TOKEN))
