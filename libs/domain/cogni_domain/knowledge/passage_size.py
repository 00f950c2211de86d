"""How much of an embedder's window a text takes, without its tokenizer."""

import re
from string import ascii_letters, digits

_LETTERS, _DIGITS, _SPACES = ascii_letters.encode(), digits.encode(), b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
_OF_A_LETTER, _OF_A_DIGIT, _OF_A_MARK = 24, 60, 100
_OTHERS = (
    (re.compile(r"[^\S\x00-\x7f]"), 0),  # wide and other spaces
    (re.compile("[\uac00-\ud7ff\u1100-\u11ff]"), 220),  # Hangul is taken apart
    (
        re.compile("[\u00c0-\u024f]"),
        250,
    ),  # tells of a language whose words are in no English vocabulary
    (re.compile("[\u1e00-\u1eff]"), 70),
    (re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 50),
)
_OF_ANYTHING_ELSE = 100


def hundredths(text: str) -> int:
    """Return the size of `text` in hundredths of a word piece; sizes add up, and white space has none.

    Fitted to the vocabulary of MiniLM, whose window is 256 pieces: a letter of English is a quarter of
    one, a mark, an ideograph or a letter of another script about one. Handbooks, documentation and abstracts
    come out between 0.8 and 1.2 of their true size.
    """
    plain = text.encode("ascii", "ignore")
    letters = len(plain) - len(plain.translate(None, _LETTERS))
    numbers = len(plain) - len(plain.translate(None, _DIGITS))
    spaces = len(plain) - len(plain.translate(None, _SPACES))
    marks = len(plain) - letters - numbers - spaces
    size = letters * _OF_A_LETTER + numbers * _OF_A_DIGIT + marks * _OF_A_MARK
    return size if len(plain) == len(text) else size + _others(text, len(text) - len(plain))


def _others(text: str, characters: int) -> int:
    size = 0
    for kind, each in _OTHERS:
        found = len(kind.findall(text))
        size += found * each
        characters -= found
    return size + characters * _OF_ANYTHING_ELSE
