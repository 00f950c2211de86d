"""Which sentences answer a question, and whether any does."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cogni_adapters.reader.dates import MONTHS
from cogni_adapters.reader.quotable import Sentence
from cogni_adapters.reader.thread_view import Source
from cogni_domain.ports.embedder import EmbedderPort
from cogni_kernel import Err, Ok, Result

SUPPORTED = 0.4
"""Fit from which on a sentence answers: of 106 questions it keeps 0.93 of the right sentences, and of 30 about a
fact that is not there it refuses 0.37."""
LOOKED_AT_TWICE = 12
"""Sentences that are read again under their headings, which often hold half of what is asked."""
FIGURE_BONUS = 0.06
"""For a sentence with a figure where the question asks for one."""
ROW_MALUS = 0.03
RANK_MALUS = 0.05
"""For each passage that was ranked better, up to RANKS of them."""
RANKS = 3
CLOSE = 0.04
"""To the best sentence, so that another is quoted beside it."""
MOST_QUOTED = 3
MOST_SENTENCES = 160

_ASKS_FIGURE = re.compile(
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


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that answers.

    Attributes:
        place: Where it stands in the sources, for the reading order.
        fit: Cosine with the question; the mean of the sentence alone and of the sentence in its place.
        bonus: What speaks for or against it beside its meaning.
    """

    source: Source
    sentence: Sentence
    place: tuple[int, int]
    fit: float
    bonus: float

    @property
    def score(self) -> float:
        """What it is compared by."""
        return self.fit + self.bonus


async def find_quotes(
    question: str, sources: Sequence[Source], embedder: EmbedderPort
) -> Result[tuple[Quote, ...]]:
    """Return the sentences that answer, best first, at most three; none where none is supported.

    A source that lacks a name of the question, like REQ-4471 or Flowline 300, cannot answer it.

    Errors:
        UpstreamError: The embedder failed.
    """
    named = _names(question) | _numbered(question)
    able = [s for s in sources if named <= _names(s.words) | _numbers(s.words)]
    candidates = _candidates(question, able)
    if not candidates or not question:
        return Ok(())
    alone = await _cosines(embedder, question, [c.sentence.text for c in candidates])
    if isinstance(alone, Err):
        return alone
    fitting = [replace(c, fit=fit) for c, fit in zip(candidates, alone.value, strict=True)]
    near = sorted(fitting, key=lambda quote: -quote.score)[:LOOKED_AT_TWICE]
    in_place = await _cosines(embedder, question, [_in_place(quote) for quote in near])
    if isinstance(in_place, Err):
        return in_place
    both = [replace(q, fit=(q.fit + fit) / 2) for q, fit in zip(near, in_place.value, strict=True)]
    supported = [quote for quote in both if quote.fit >= SUPPORTED]
    return Ok(_best(sorted(supported, key=lambda quote: -quote.score)))


def _in_place(quote: Quote) -> str:
    place, text = quote.source.place, quote.sentence.text
    return f"{place}: {text}" if place else text


def _candidates(question: str, sources: Sequence[Source]) -> list[Quote]:
    """Return each sentence, in reading order, with what speaks for or against it beside its meaning."""
    asks_figure = _ASKS_FIGURE.search(question) is not None
    ranks = _ranks(sources)
    return [
        Quote(source, sentence, (position, number), 0.0, _bonus(sentence, rank, asks_figure))
        for position, (source, rank) in enumerate(zip(sources, ranks, strict=True))
        for number, sentence in enumerate(source.sentences)
    ][:MOST_SENTENCES]


def _ranks(sources: Sequence[Source]) -> list[int]:
    """Count passages from the best, at 0; a tool's own data comes just behind it, since it has no source."""
    passages = itertools.count()
    return [next(passages) if source.handle else 1 for source in sources]


def _best(ranked: Sequence[Quote]) -> tuple[Quote, ...]:
    """Keep the best and what is almost as good, each wording once."""
    kept: dict[str, Quote] = {}
    for quote in ranked:
        if quote.score < ranked[0].score - CLOSE or len(kept) == MOST_QUOTED:
            break
        kept.setdefault(quote.sentence.text.casefold(), quote)
    return tuple(kept.values())


def _bonus(sentence: Sentence, rank: int, asks_figure: bool) -> float:  # noqa: FBT001
    figure = FIGURE_BONUS if asks_figure and _FIGURE.search(sentence.text) else 0.0
    return figure - RANK_MALUS * min(rank, RANKS) - ROW_MALUS * sentence.is_row


def _names(text: str) -> frozenset[str]:
    return frozenset(_JOINT.sub("", name.casefold()) for name in _NAME.findall(text))


def _numbered(question: str) -> frozenset[str]:
    """Return the numbers that are part of a name, as in Flowline 300; those of days and years are not."""
    return frozenset(
        number for word, number in _NUMBERED.findall(question) if word.casefold() not in MONTHS
    )


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


async def _cosines(
    embedder: EmbedderPort, question: str, texts: Sequence[str]
) -> Result[list[float]]:
    embedded = await embedder.embed([question, *texts])
    return embedded.map(lambda vectors: [float(cosine) for cosine in vectors[1:] @ vectors[0]])
