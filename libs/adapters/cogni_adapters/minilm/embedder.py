"""Texts to vectors, with a model that needs no server."""

from collections.abc import Sequence

import numpy as np

from cogni_adapters.minilm.model import MiniLm
from cogni_adapters.minilm.network import DIMENSION, Hidden
from cogni_adapters.minilm.urgency import Urgency
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_kernel import Err, Ok, Result

ONE_BATCH_CHARACTERS = 1_000
A_FEW_BATCHES_CHARACTERS = 20_000


class MiniLmEmbedderAdapter(EmbedderPort):
    """The mean of a text's token vectors. Small calls overtake large ones."""

    def __init__(self, model: MiniLm) -> None:
        self._model = model

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def version(self) -> str:
        return self._model.version

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        urgency = _urgency(texts)
        encoded = await self._model.encode(texts, urgency)
        if isinstance(encoded, Err):
            return encoded
        means = await self._model.read(encoded.value, mean_vector, urgency)
        if isinstance(means, Err):
            return means
        return Ok(np.stack(means.value) if means.value else np.empty((0, DIMENSION), np.float32))


def mean_vector(hidden: Hidden) -> Vectors:
    """Return the direction of the mean of one text's token vectors, shape (DIMENSION,), length 1."""
    mean: Vectors = hidden.mean(axis=0)
    return mean / np.float32(np.linalg.norm(mean))


def _urgency(texts: Sequence[str]) -> Urgency:
    characters = sum(map(len, texts))
    if characters <= ONE_BATCH_CHARACTERS:
        return Urgency.AT_ONCE
    return Urgency.SOON if characters <= A_FEW_BATCHES_CHARACTERS else Urgency.LATER
