"""What a question asks for, beside its meaning: a figure, a name, the words themselves."""

import re
from dataclasses import dataclass

from cogni_adapters.reader.dates import MONTHS
from cogni_domain.knowledge.analysis import analyse

_WANTS_FIGURE = re.compile(
    r"\bhow (?:much|many|long|old|often|far|fast|heavy|high|large|big|soon|quickly|late|deep|tall)\b"
    r"|\bwhen\b|\bwhat time\b|\bcosts?\b|\bprice\b|\blimit\b|\bwie ?viele?\b|\bwie (?:lange|hoch|oft|alt)\b"
    r"|\bwann\b|\bcombien\b|\bquand\b|\bcu[aá]nt[oa]s?\b|\bcu[aá]ndo\b|\bhoeveel\b|\bwanneer\b"
    r"|كم|متى|多少|几|何",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|half|hundred"
    r"|thousand|million|eine?[nmrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|deux|trois"
    r"|quatre|cinq|dos|tres|cuatro|cinco|twee|drie|vijf)\b|[一二三四五六七八九十百千]"
    r"|واحد|اثن|ثلاث|أربع|خمس|ست|سبع|ثمان|تسع|عشر",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[-_/]")
_NAME = re.compile(r"(?<![\w-])[^\W\d_]{1,20}[-_/]?\d[\w-]{0,20}")
_NUMBERED = re.compile(r"(?<=[^\s.?!]\s)([A-Z][^\W\d_]{1,30})\s(\d{1,3})(?![\d.,:-])")
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?!\d)")
_LAST_LATIN = "\u024f"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once.

    Attributes:
        names: Identifiers in it, `req4471`.
        numbers: Numbers that are part of a name, as in Flowline 300; those of days and years are not.
        wants_figure: Whether a figure must be in the answer.
        terms: Its words, where the script is one that the embedder knows little of; else none.
    """

    text: str
    names: frozenset[str]
    numbers: frozenset[str]
    wants_figure: bool
    terms: frozenset[str]

    @staticmethod
    def read(text: str) -> "Question":
        """Take a question apart."""
        numbers = (n for word, n in _NUMBERED.findall(text) if word.casefold() not in MONTHS)
        terms = frozenset(analyse(text)) if _is_foreign(text) else frozenset()
        wants_figure = _WANTS_FIGURE.search(text) is not None
        return Question(text, _names(text), frozenset(numbers), wants_figure, terms)

    def may_be_answered_by(self, text: str) -> bool:
        """Tell whether a source speaks of what is named: REQ-4417 cannot answer for REQ-4471."""
        return self.names <= _names(text) and self.numbers <= frozenset(_NUMBER.findall(text))

    def is_named_in(self, sentence: str) -> bool:
        """Tell whether a sentence itself has the identifiers, if there are any."""
        return bool(self.names) and self.names <= _names(sentence)

    def finds_figure_in(self, sentence: str) -> bool:
        """Tell whether a figure is wanted and there."""
        return self.wants_figure and _FIGURE.search(sentence) is not None

    def shared_with(self, sentence: str) -> float:
        """Return the share of its terms that a sentence has, 0 where it has none to look for."""
        if not self.terms:
            return 0.0
        return len(self.terms & set(analyse(sentence))) / len(self.terms)


def _names(text: str) -> frozenset[str]:
    return frozenset(_JOINT.sub("", name.casefold()) for name in _NAME.findall(text))


def _is_foreign(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > _LAST_LATIN for letter in letters) * 2 > len(letters)
