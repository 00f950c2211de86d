from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.rule import AccessRule
from cogni_engine import PlanPayload
from cogni_testing import (
    START,
    CapturingChannel,
    FrozenClock,
    HashEmbedder,
    LexicalReranker,
    SequentialIds,
    corpus_fixture,
    ok,
)
from cogni_testing.contracts.clock import ClockContract
from cogni_testing.contracts.embedder import EmbedderContract
from cogni_testing.contracts.reranker import RerankerContract


class TestHashEmbedder(EmbedderContract):
    def make_embedder(self) -> HashEmbedder:
        return HashEmbedder()


class TestLexicalReranker(RerankerContract):
    def make_reranker(self) -> LexicalReranker:
        return LexicalReranker()


class TestFrozenClock(ClockContract):
    def make_clock(self) -> FrozenClock:
        return FrozenClock()


def test_time_moves_only_when_told() -> None:
    clock = FrozenClock()

    assert clock.now() == clock.now() == START
    assert clock.advance(timedelta(hours=1)) == START + timedelta(hours=1) == clock.now()


def test_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        FrozenClock().advance(timedelta(seconds=-1))


def test_ids_count_up() -> None:
    new_id = SequentialIds("run")

    assert [new_id(), new_id()] == ["run-1", "run-2"]


@given(st.lists(st.text(), max_size=4))
async def test_every_text_has_a_vector_of_length_one(texts: list[str]) -> None:
    vectors = ok(await HashEmbedder().embed(texts))

    assert vectors.shape == (len(texts), 512)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


async def test_shared_words_are_near_and_others_are_not() -> None:
    question, near, far = ok(
        await HashEmbedder().embed(
            ["parental leave weeks", "Parental leave is 16 weeks.", "The bicycle shed"]
        )
    )

    assert float(question @ near) > 0.5
    assert float(question @ far) < 0.1


async def test_the_reranker_puts_the_passage_with_the_words_first() -> None:
    rule = AccessRule.everyone()
    corpus = corpus_fixture(
        {"shed": "The bicycle shed.", "leave": "Parental leave is 16 weeks."},
        {"shed": rule, "leave": rule},
    )

    ranked = ok(await LexicalReranker().rank("How long is parental leave?", corpus.chunks))

    assert [(hit.chunk.title, hit.score) for hit in ranked] == [
        ("leave", pytest.approx(2 / 3)),
        ("shed", 0.0),
    ]


async def test_small_words_are_no_evidence() -> None:
    corpus = corpus_fixture({"shed": "This is the shed."}, {"shed": AccessRule.everyone()})

    (hit,) = ok(await LexicalReranker().rank("the is a", corpus.chunks))

    assert hit.score == 0.0


async def test_the_channel_keeps_what_a_tool_pushes() -> None:
    channel = CapturingChannel()
    plan = PlanPayload("Moving house", ())

    marker = await channel.publish(plan)

    assert channel.payloads() == (plan,)
    assert channel.captured()[0].marker == marker
