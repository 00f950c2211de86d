"""A closer look at a few passages: each word of the question against each word of the passage."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cogni_adapters.minilm.embedder import mean_vector
from cogni_adapters.minilm.model import MiniLm
from cogni_adapters.minilm.network import Encoded, Hidden
from cogni_adapters.minilm.urgency import Urgency
from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.reranker import RerankerPort
from cogni_kernel import Err, Ok, Result

MAX_CANDIDATES = 24
"""Looked at: more found nothing more. Passages beyond come back last, in the order given, with score 0."""
CACHE_BYTES = 64 * 1024 * 1024
WORDS_WEIGHT = 0.8
"""Of the words against the words; the rest is for the passage as a whole."""
NAMES_WEIGHT = 0.1
"""Of identifiers, where the question names any: to the model REQ-4417 and REQ-4471 are alike."""

_NAME = re.compile(
    r"(?<![\w-])(?=[\w/.-]{0,60}\d)(?=[\w/.-]{0,60}[^\W\d_])\w{1,60}(?:[-/.]\w{1,60}){0,8}(?![\w-])"
)
_SPECIAL = (101, 102)
_FIRST_FOREIGN = 1067
_FIRST_WORD = 1996
_FOREIGN_RARITY = 0.6
_VOCABULARY = 30_522


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One text: unit vectors of its tokens, shape (tokens, d), and of the whole, shape (d,)."""

    tokens: npt.NDArray[np.float16]
    whole: Vectors

    @staticmethod
    def of(hidden: Hidden) -> "TokenVectors":
        """Normalise what the model gave."""
        lengths = np.linalg.norm(hidden, axis=1, keepdims=True)
        return TokenVectors((hidden / lengths).astype(np.float16), mean_vector(hidden))

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.tokens.nbytes + self.whole.nbytes


class MaxSimRerankerAdapter(RerankerPort):
    """Late interaction over the embedder's own token vectors.

    A word of the question counts by its best match in the passage and by how rare it is; rarity is the word's
    rank in the model's vocabulary, so a score means the same in every index.
    """

    def __init__(self, model: MiniLm) -> None:
        self._model = model
        self._cache = _Cache(CACHE_BYTES)

    @property
    def cached_bytes(self) -> int:
        """Memory held for passages that were read lately."""
        return self._cache.bytes

    async def rank(self, question: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        if not chunks:
            return Ok(())
        asked = await self._model.encode([question], Urgency.AT_ONCE)
        if isinstance(asked, Err):
            return asked
        read = await self._model.read(asked.value, TokenVectors.of, Urgency.AT_ONCE)
        if isinstance(read, Err):
            return read
        near, far = chunks[:MAX_CANDIDATES], chunks[MAX_CANDIDATES:]
        passages = await self._vectors([chunk.indexed_text for chunk in near])
        if isinstance(passages, Err):
            return passages
        words, weights = read.value[0], rarity(asked.value[0])
        scored = await self._model.run(
            [lambda: [similarity(words, weights, p) for p in passages.value]], Urgency.SOON
        )
        if isinstance(scored, Err):
            return scored
        named = names(question)
        scores = [with_names(s, named, c) for s, c in zip(scored.value[0], near, strict=True)]
        ranked = sorted(map(ScoredChunk, near, scores), key=lambda hit: -hit.score)
        return Ok((*ranked, *(ScoredChunk(chunk, 0.0) for chunk in far)))

    async def _vectors(self, texts: Sequence[str]) -> Result[list[TokenVectors]]:
        wanted = dict.fromkeys(texts)
        found = {text: held for text in wanted if (held := self._cache.get(text)) is not None}
        missing = [text for text in wanted if text not in found]
        encoded = await self._model.encode(missing, Urgency.SOON)
        if isinstance(encoded, Err):
            return encoded
        read = await self._model.read(encoded.value, TokenVectors.of, Urgency.SOON)
        if isinstance(read, Err):
            return read
        for text, vectors in zip(missing, read.value, strict=True):
            found[text] = vectors
            self._cache.put(text, vectors)
        return Ok([found[text] for text in texts])


def rarity(text: Encoded) -> Vectors:
    """Return each token's weight, 0 to 1: the logarithm of its rank in a vocabulary sorted by frequency."""
    ids = np.asarray(text)
    rank = np.maximum(ids - _FIRST_WORD + 1, 1).astype(np.float32)
    weights: Vectors = np.log1p(rank) / np.float32(np.log1p(_VOCABULARY - _FIRST_WORD))
    weights[(ids >= _FIRST_FOREIGN) & (ids < _FIRST_WORD)] = _FOREIGN_RARITY
    weights[np.isin(ids, _SPECIAL)] = 0.0
    return weights


def similarity(question: TokenVectors, weights: Vectors, passage: TokenVectors) -> float:
    """Return how well a passage fits, 0 to 1."""
    pairs = question.tokens.astype(np.float32) @ passage.tokens.astype(np.float32).T
    words = float(pairs.max(axis=1) @ weights) / max(float(weights.sum()), 1e-6)
    whole = float(question.whole @ passage.whole)
    return min(max(WORDS_WEIGHT * words + (1 - WORDS_WEIGHT) * whole, 0.0), 1.0)


def names(text: str) -> frozenset[str]:
    """Return the identifiers in a text: what mixes letters and digits, `req-4417`, `e-34`, `m2`."""
    return frozenset(found.casefold() for found in _NAME.findall(text))


def with_names(score: float, named: frozenset[str], chunk: Chunk) -> float:
    """Return the score with the share of the question's identifiers that the passage has, if there are any."""
    if not named:
        return score
    share = len(named & names(chunk.indexed_text)) / len(named)
    return (1 - NAMES_WEIGHT) * score + NAMES_WEIGHT * share


class _Cache:
    """The passages used last, up to a number of bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held: OrderedDict[str, TokenVectors] = OrderedDict()
        self.bytes = 0

    def get(self, text: str) -> TokenVectors | None:
        vectors = self._held.get(text)
        if vectors is not None:
            self._held.move_to_end(text)
        return vectors

    def put(self, text: str, vectors: TokenVectors) -> None:
        if text not in self._held:
            self._held[text] = vectors
            self.bytes += vectors.size
        while self.bytes > self._capacity:
            _, dropped = self._held.popitem(last=False)
            self.bytes -= dropped.size
