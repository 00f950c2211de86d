"""An answer cut into tokens whose ends never depend on how its stream was cut."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from cogni_application.addresses import address_in

MAX_GROUP = 300
MAX_TARGET = 2000
MAX_WORD = 2048

OPENING, CLOSING = "[\uff3b\ufe47", "]\uff3d\ufe48"
_OPEN, _CLOSE = re.escape(OPENING), re.escape(CLOSING)
_INSIDE = f"[^{_OPEN}{_CLOSE}\n]{{0,{MAX_GROUP}}}"
_SINGLE = re.compile(f"[{_OPEN}]{_INSIDE}[{_CLOSE}]")
_DOUBLE = re.compile(f"[{_OPEN}]{{2}}{_INSIDE}[{_CLOSE}]{{2}}")
_SINGLE_BEGUN = re.compile(f"[{_OPEN}]{_INSIDE}\\Z")
_DOUBLE_BEGUN = re.compile(f"[{_OPEN}]{{2}}{_INSIDE}[{_CLOSE}]?\\Z")
_BROKEN = re.compile(f"[{_OPEN}]{{2}}[^\\s{_OPEN}{_CLOSE}]{{0,{MAX_GROUP}}}")
_PARENTHESIS = re.compile(f"\\([^()\n]{{0,{MAX_TARGET}}}\\)")
_PARENTHESIS_BEGUN = re.compile(f"\\([^()\n]{{0,{MAX_TARGET}}}\\Z")
_TARGET = re.compile(r"\(\s*(?:<([^<>]*)>|([^\s<>]*))(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")

_IN_WORDS = r"A-Za-z0-9%&#;:/?@=+._~!$'*,()\\\-"
_WORD = re.compile(f"[{_IN_WORDS}]+")
_OTHER = re.compile(f"[^{_IN_WORDS}{_OPEN}]+")
_MAY_BEGIN_ADDRESS = re.compile(r"//|www\.|(?:https?|ftp|wss?):/?\Z", re.IGNORECASE)
ADDRESS_GOES_ON = re.compile(f'[^\\s<>"`|{_OPEN}{_CLOSE}]*')
_CODE_BEGUN = re.compile(r"[&%][^&%;]{0,8}\Z")


@dataclass(frozen=True, slots=True)
class Other:
    """Spaces, letters beyond ASCII, and signs that begin nothing."""

    raw: str


@dataclass(frozen=True, slots=True)
class Word:
    """ASCII without spaces; with all that belongs to it where there is an address in it."""

    raw: str


@dataclass(frozen=True, slots=True)
class Group:
    """Something in brackets, single or double, without brackets inside.

    Attributes:
        raw: All of it, with the parenthesis that makes a link of it.
        text: The brackets and what is in them.
        address: Where the link leads, None where it is none.
    """

    raw: str
    text: str
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """Two opening brackets that nothing closes, up to the next space."""

    raw: str


Token: TypeAlias = Other | Word | Group | Broken


def next_token(text: str, at: int, *, final: bool) -> Token | None:
    """Return the token at `at`, or None while more text could change it; `final` says that none comes."""
    if text[at] in OPENING:
        return _bracket(text, at, final=final)
    word = _WORD.match(text, at, at + MAX_WORD)
    if word is None:
        other = _OTHER.match(text, at)
        return Other(other[0] if other else text[at])
    short = _word(text, at, word.end(), final=final)
    if short is None or not _MAY_BEGIN_ADDRESS.search(word[0]):
        return short
    rest = ADDRESS_GOES_ON.match(text, word.end(), at + MAX_WORD)
    whole = _word(text, at, rest.end() if rest else word.end(), final=final)
    return whole if whole is None or address_in(whole.raw) else short


def _word(text: str, at: int, end: int, *, final: bool) -> Word | None:
    if end - at == MAX_WORD:
        code = _CODE_BEGUN.search(text, at + 1, end)
        return Word(text[at : code.start() if code else end])
    return None if end == len(text) and not final else Word(text[at:end])


def _bracket(text: str, at: int, *, final: bool) -> Token | None:
    following = text[at + 1 : at + 2]
    if not following:
        return Other(text[at]) if final else None
    is_double = following in OPENING
    whole = (_DOUBLE if is_double else _SINGLE).match(text, at)
    if whole is not None:
        return _group(text, whole[0], whole.end(), final=final)
    if not final and (_DOUBLE_BEGUN if is_double else _SINGLE_BEGUN).match(text, at):
        return None
    broken = _BROKEN.match(text, at)
    return Broken(broken[0]) if broken else Other(text[at])


def _group(text: str, whole: str, end: int, *, final: bool) -> Group | None:
    parenthesis = _PARENTHESIS.match(text, end)
    if parenthesis is None:
        may_follow = end == len(text) or _PARENTHESIS_BEGUN.match(text, end)
        return None if may_follow and not final else Group(whole, whole)
    target = _TARGET.fullmatch(parenthesis[0])
    if target is None:
        return Group(whole, whole)
    return Group(whole + parenthesis[0], whole, target[1] or target[2] or "")
