"""What every `RerankerPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_domain.ports.reranker import RerankerPort
from cogni_testing.assertions import ok
from cogni_testing.fixtures import corpus_fixture

QUESTION = "How many weeks of parental leave do I get?"
ANSWER = "Employees get twenty weeks of parental leave for each child."
OTHER = "The pump must be vented before it is started."


class RerankerContract(ABC):
    """Every passage comes back once, best first, with a score that means the same for every question."""

    @abstractmethod
    def make_reranker(self) -> RerankerPort:
        """Return the reranker under test."""

    async def rank(self, question: str, texts: Sequence[str]) -> Sequence[ScoredChunk]:
        """Rank passages of these texts."""
        return ok(await self.make_reranker().rank(question, passages(texts)))

    async def test_nothing_ranks_to_nothing(self) -> None:
        assert list(await self.rank(QUESTION, [])) == []

    async def test_every_passage_comes_back_once(self) -> None:
        texts = [f"Passage {n} is about leave." for n in range(120)]

        found = await self.rank(QUESTION, texts)

        assert sorted(hit.chunk.text for hit in found) == sorted(texts)

    async def test_two_passages_of_the_same_text_both_come_back(self) -> None:
        found = await self.rank(QUESTION, [ANSWER, OTHER, ANSWER])

        assert len({hit.chunk.id for hit in found}) == 3

    async def test_the_best_comes_first(self) -> None:
        found = await self.rank(QUESTION, [OTHER, ANSWER])

        assert [hit.chunk.text for hit in found] == [ANSWER, OTHER]
        assert found[0].score > found[1].score

    async def test_scores_fall_and_stay_between_zero_and_one(self) -> None:
        texts = [ANSWER, OTHER, "", "?", "休暇は二十週間です。", "leave " * 2_000, QUESTION]

        scores = [hit.score for hit in await self.rank(QUESTION, texts)]

        assert scores == sorted(scores, reverse=True)
        assert 0 <= scores[-1] <= scores[0] <= 1

    async def test_a_question_without_words_is_no_error(self) -> None:
        found = await self.rank("?", [ANSWER, OTHER])

        assert len(found) == 2

    async def test_a_score_does_not_depend_on_the_other_passages(self) -> None:
        alone = await self.rank(QUESTION, [ANSWER])
        together = await self.rank(QUESTION, [ANSWER, *(OTHER for _ in range(20))])

        assert abs(alone[0].score - together[0].score) < 0.01


def passages(texts: Sequence[str]) -> list[Chunk]:
    """Return a passage for each text, each of a document of its own."""
    titles = [f"Page {n}" for n in range(len(texts))]
    rules = dict.fromkeys(titles, AccessRule.everyone())
    found = corpus_fixture(dict.fromkeys(titles, "To be replaced."), rules)
    return [replace(chunk, text=text) for chunk, text in zip(found.chunks, texts, strict=True)]
