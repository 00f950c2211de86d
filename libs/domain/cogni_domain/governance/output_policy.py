"""What an answer must not say, as far as a machine can see it: a backstop, never the mechanism.

What can be enforced elsewhere is: the surface renders the disclosure, retrieval applies the scope, the loop
obeys a tool's effect. What remains is stated in the instructions and checked here, and is easily evaded.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from cogni_domain.knowledge.hidden_text import HIDDEN_RUN
from cogni_kernel import HumanText

MAX_WORD = 64
MAX_PHRASE = 200

_WORD = re.compile(rf"\s+|\S{{{MAX_WORD}}}|\S+(?=\s)")
_WORD_AT_END = re.compile(rf"\s+|\S{{1,{MAX_WORD}}}")
_EMPHASIS = re.compile(r"[*_~`]+")
_SPACE = re.compile(r"\s+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)


@dataclass(frozen=True, slots=True)
class Prohibition:
    """One thing that is not said: no individual advice, no promise of a price, no diagnosis.

    Attributes:
        id: Names it in run records and in the answer suite.
        description: What a person reads instead of an answer; says where to turn.
        phrases: What gives it away, in any case and spacing, whole words alone.

    Raises:
        ValueError: There is no phrase, or one is blank or longer than `MAX_PHRASE`.
    """

    id: str
    description: HumanText
    phrases: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.phrases or not all(
            0 < len(_folded(p).strip()) <= MAX_PHRASE for p in self.phrases
        ):
            raise ValueError(f"{self.id}: name phrases of at most {MAX_PHRASE} characters")


@dataclass(frozen=True, slots=True)
class Redaction:
    """Words that are never shown, and what stands in their place.

    Raises:
        ValueError: The pattern would take its own replacement, or an empty word.
    """

    pattern: re.Pattern[str]
    replacement: str

    def __post_init__(self) -> None:
        if self.pattern.search(self.replacement) or self.pattern.search(""):
            raise ValueError(f"{self.pattern.pattern!r} takes what it leaves")


@dataclass(frozen=True, slots=True)
class Allowed:
    """Nothing in the answer is prohibited; `text` is what may be shown."""

    text: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """The answer says what is prohibited."""

    prohibition: Prohibition


Verdict: TypeAlias = Allowed | Blocked


@dataclass(frozen=True, slots=True)
class OutputPolicy:
    """What of an answer may be shown.

    Source:
        COGNI.BUILD spec, package domain, "OutputPolicy".
    """

    prohibitions: tuple[Prohibition, ...] = ()
    redactions: tuple[Redaction, ...] = ()

    def evaluate(self, answer: str) -> Verdict:
        """Judge a whole answer; the verdict is that of its stream, in whatever pieces it came."""
        check = OutputCheck(self)
        text = check.feed(answer) + check.finish()
        return Allowed(text) if check.blocked is None else Blocked(check.blocked)

    def redacted(self, word: str) -> str:
        """Return a word as it may be shown."""
        for redaction in self.redactions:
            word = redaction.pattern.sub(redaction.replacement.replace("\\", r"\\"), word)
        return word


class OutputCheck:
    """One answer under a policy, while it comes: a word is held back until it is whole.

    From the word on that completes a prohibited phrase nothing is shown, whether it stood there or is left by a
    redaction; what was shown before it stays. The result is the same for every way of cutting the stream.

    Attributes:
        blocked: What was said that is prohibited; None so far.
    """

    def __init__(self, policy: OutputPolicy) -> None:
        self.blocked: Prohibition | None = None
        self._policy = policy
        self._watched = [
            (p, re.compile("|".join(map(_pattern, p.phrases)))) for p in policy.prohibitions
        ]
        self._held = ""
        self._written = ""
        self._left = ""

    def feed(self, text: str) -> str:
        """Take more of the answer; return what may be shown now."""
        if not (self._watched or self._policy.redactions):
            return text
        return self._take(self._held + text, _WORD)

    def finish(self) -> str:
        """Return what was held back: the answer is over."""
        return self._take(self._held, _WORD_AT_END)

    def _take(self, text: str, word: re.Pattern[str]) -> str:
        return "".join(self._shown(found) for found in self._words(text, word))

    def _words(self, text: str, word: re.Pattern[str]) -> Iterator[str]:
        at = 0
        while (found := word.match(text, at)) is not None:
            at = found.end()
            yield found[0]
        self._held = text[at:]

    def _shown(self, word: str) -> str:
        if self.blocked is not None:
            return ""
        shown = self._policy.redacted(word)
        self._written, self._left = _and(self._written, word), _and(self._left, shown)
        if not word.isspace():
            self.blocked = self._said(self._written) or self._said(self._left)
        return "" if self.blocked is not None else shown

    def _said(self, tail: str) -> Prohibition | None:
        return next((p for p, said in self._watched if said.search(tail)), None)


def _and(tail: str, word: str) -> str:
    """Return the end of a text with one more word, as phrases are compared."""
    return tail.rstrip() + " " if word.isspace() else (tail + _folded(word))[-2 * MAX_PHRASE :]


def _folded(text: str) -> str:
    """Return text as phrases are compared: without emphasis, case, width and what nobody sees."""
    seen = _EMPHASIS.sub("", HIDDEN_RUN.sub("", text))
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", seen).casefold())


def _pattern(phrase: str) -> str:
    """Return the pattern of a phrase: whole words, where its script sets words apart."""
    folded = _folded(phrase).strip()
    before = r"(?<!\w)" if _ends_a_word(folded[0]) else ""
    after = r"(?!\w)" if _ends_a_word(folded[-1]) else ""
    return before + re.escape(folded) + after


def _ends_a_word(character: str) -> bool:
    return character.isalnum() and not _UNSPACED.match(character)
