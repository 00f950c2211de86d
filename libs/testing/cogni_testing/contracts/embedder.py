"""What every `EmbedderPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_testing.assertions import ok

LEAVE = "How many weeks of parental leave are there?"
SAME_LEAVE = "Parental leave: weeks there are of it, and how many of them."
PUMP = "Replace the gasket of a pump before starting it."


class EmbedderContract(ABC):
    """One vector a text, of length 1, near where the texts are about the same."""

    @abstractmethod
    def make_embedder(self) -> EmbedderPort:
        """Return the embedder under test."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that must be embedded."""
        return ok(await self.make_embedder().embed(texts))

    async def test_each_text_has_a_vector_of_the_dimension(self) -> None:
        vectors = await self.embed([LEAVE, PUMP, LEAVE])

        assert vectors.shape == (3, self.make_embedder().dimension)
        assert vectors.dtype == np.float32

    async def test_no_texts_give_no_vectors(self) -> None:
        assert (await self.embed([])).shape == (0, self.make_embedder().dimension)

    async def test_every_vector_has_length_one(self) -> None:
        texts = [LEAVE, "", " ", "x", "\u2028", "休暇は何週間ですか", "word " * 5_000, "\U0001f600"]

        lengths = np.linalg.norm(await self.embed(texts), axis=1)

        assert np.allclose(lengths, 1, atol=1e-3)

    async def test_vectors_come_in_the_order_of_the_texts(self) -> None:
        texts = [f"{'long ' * (n % 7)}text number {n}" for n in range(40)]

        together = await self.embed(texts)
        alone = np.concatenate([await self.embed([text]) for text in texts])

        assert (together @ alone.T).argmax(axis=1).tolist() == list(range(40))

    async def test_a_text_has_the_same_vector_in_any_company(self) -> None:
        alone = await self.embed([LEAVE])
        among_others = await self.embed([PUMP, LEAVE, "word " * 300])

        assert float(alone[0] @ among_others[1]) > 0.999

    async def test_texts_about_the_same_are_nearer(self) -> None:
        leave, same, pump = await self.embed([LEAVE, SAME_LEAVE, PUMP])

        assert leave @ same > leave @ pump

    async def test_the_version_names_what_made_the_vectors_and_stays(self) -> None:
        assert self.make_embedder().version
        assert self.make_embedder().version == self.make_embedder().version
