"""Which sentences answer a question, and whether any does."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cogni_adapters.reader.question import Question
from cogni_adapters.reader.quotable import Sentence
from cogni_adapters.reader.thread_view import Source
from cogni_domain.ports.embedder import EmbedderPort
from cogni_kernel import Err, Ok, Result

SUPPORTED = 0.4
"""Fit from which on a sentence answers: of 106 questions it keeps 0.93 of the right sentences, and of 30 about a
fact that is not there it refuses 0.37."""
LOOKED_AT_TWICE = 12
"""Sentences that are read again under their headings, which often hold half of what is asked."""
NAME_BONUS = 0.1
"""For a sentence that itself has the name that the question names; it counts as fit."""
FIGURE_BONUS = 0.06
"""For a sentence with a figure where the question asks for one."""
WORDS_BONUS = 0.1
"""For the share of the question's terms, in scripts that the embedder knows little of."""
ROW_MALUS = 0.03
RANK_MALUS = 0.05
"""For each passage that was ranked better, up to RANKS of them."""
RANKS = 3
CLOSE = 0.04
"""To the best sentence, so that another is quoted beside it."""
MOST_QUOTED = 3
MOST_SENTENCES = 160


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that may answer.

    Attributes:
        place: Where it stands in the sources, for the reading order.
        bonus: What speaks for or against it beside its meaning.
        fit: Cosine with the question; the mean of the sentence alone and of the sentence in its place.
    """

    source: Source
    sentence: Sentence
    place: tuple[int, int]
    bonus: float
    fit: float = 0.0

    @property
    def score(self) -> float:
        """What it is compared by."""
        return self.fit + self.bonus

    @property
    def text_in_place(self) -> str:
        """The sentence under its title and headings."""
        return ": ".join(filter(None, (self.source.place, self.sentence.text)))

    @property
    def is_record(self) -> bool:
        """Whether it is what a tool looked up."""
        return self.sentence.is_row and not self.source.handle


async def find_quotes(
    asked: str, sources: Sequence[Source], embedder: EmbedderPort
) -> Result[tuple[Quote, ...]]:
    """Return the sentences that answer, best first, at most three; none where none is supported.

    A source that lacks a name of the question, like REQ-4471 or Flowline 300, cannot answer it. Where no
    sentence does, a record that a tool looked up for this question is the answer.

    Errors:
        UpstreamError: The embedder failed.
    """
    question = Question.read(asked)
    able = [source for source in sources if question.may_be_answered_by(source.words)]
    candidates = _candidates(question, able)
    if not candidates or not asked:
        return Ok(())
    alone = await _cosines(embedder, asked, [quote.sentence.text for quote in candidates])
    if isinstance(alone, Err):
        return alone
    fitting = [replace(quote, fit=fit) for quote, fit in zip(candidates, alone.value, strict=True)]
    near = sorted(fitting, key=lambda quote: -quote.score)[:LOOKED_AT_TWICE]
    in_place = await _cosines(embedder, asked, [quote.text_in_place for quote in near])
    if isinstance(in_place, Err):
        return in_place
    both = [_with_both(question, q, fit) for q, fit in zip(near, in_place.value, strict=True)]
    supported = [quote for quote in both if quote.fit >= SUPPORTED]
    if not supported:
        return Ok(tuple(quote for quote in candidates if quote.is_record)[:MOST_QUOTED])
    return Ok(_best(sorted(supported, key=lambda quote: -quote.score)))


def _candidates(question: Question, sources: Sequence[Source]) -> list[Quote]:
    """Return each sentence, in reading order, before its meaning is looked at."""
    placed = enumerate(zip(sources, _ranks(sources), strict=True))
    return [
        Quote(source, sentence, (position, number), _bonus(question, sentence, rank))
        for position, (source, rank) in placed
        for number, sentence in enumerate(source.sentences)
    ][:MOST_SENTENCES]


def _ranks(sources: Sequence[Source]) -> list[int]:
    """Count passages from the best, at 0; a tool's own data comes just behind it, since it has no source."""
    passages = itertools.count()
    return [next(passages) if source.handle else 1 for source in sources]


def _bonus(question: Question, sentence: Sentence, rank: int) -> float:
    for_it = FIGURE_BONUS * question.finds_figure_in(sentence.text)
    for_it += WORDS_BONUS * question.shared_with(sentence.text)
    return for_it - RANK_MALUS * min(rank, RANKS) - ROW_MALUS * sentence.is_row


def _with_both(question: Question, quote: Quote, in_place: float) -> Quote:
    named = NAME_BONUS * question.is_named_in(quote.sentence.text)
    return replace(quote, fit=(quote.fit + in_place) / 2 + named)


def _best(ranked: Sequence[Quote]) -> tuple[Quote, ...]:
    """Keep the best and what is almost as good, each wording once."""
    kept: dict[str, Quote] = {}
    for quote in ranked:
        if quote.score < ranked[0].score - CLOSE or len(kept) == MOST_QUOTED:
            break
        kept.setdefault(quote.sentence.text.casefold(), quote)
    return tuple(kept.values())


async def _cosines(
    embedder: EmbedderPort, question: str, texts: Sequence[str]
) -> Result[list[float]]:
    embedded = await embedder.embed([question, *texts])
    return embedded.map(lambda vectors: [float(cosine) for cosine in vectors[1:] @ vectors[0]])
