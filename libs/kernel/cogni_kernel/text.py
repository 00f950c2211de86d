"""Text for a person and text for a model, kept apart by type."""

import re
import unicodedata
from dataclasses import dataclass
from typing import NewType

TokenCount = NewType("TokenCount", int)
"""Model tokens, never negative."""

CHARACTERS_PER_TOKEN = 4
"""A safe average for English prose; scripts without spaces are counted a token a character."""

_WITHOUT_SPACES = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
_UNSEEN_LETTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class Text:
    """Text whose reader is known. Use one of the two subclasses."""

    value: str

    def __str__(self) -> str:
        return self.value

    def is_blank(self) -> bool:
        """Tell whether there is nothing to read: white space and invisible characters only."""
        return all(map(_is_unseen, self.value))


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
    wide = 0 if text.isascii() else len(_WITHOUT_SPACES.findall(text))
    narrow = len(text) - wide
    return TokenCount(wide + -(-narrow // CHARACTERS_PER_TOKEN))


def encodable(text: str) -> str:
    """Return `text` as UTF-8 can hold it: surrogates that make a pair are joined, single ones become U+FFFD.

    >>> encodable("\\ud83d\\ude00 \\ud83d") == "\\U0001f600 \\ufffd"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _is_unseen(character: str) -> bool:
    if unicodedata.category(character) in _UNSEEN_CATEGORIES:
        return True
    return _UNSEEN_LETTERS.match(character) is not None
