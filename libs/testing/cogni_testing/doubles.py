"""Small stand-ins that behave: deterministic, in one process, without a network."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.ports.reranker import RerankerPort
from cogni_engine import ChannelKey, MemoryReferenceStore, NullBroadcaster, Renderable
from cogni_kernel import Ok, Result

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday morning: where frozen clocks stand at first."""

_WORD = re.compile(r"\w+")
_TELLING = 4


class FrozenClock(ClockPort):
    """Time that stands until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, span: timedelta) -> datetime:
        """Move on by `span`; return the new moment.

        Raises:
            ValueError: `span` is negative; time does not go back.
        """
        if span < timedelta():
            raise ValueError("time does not go back")
        self._now += span
        return self._now


class SequentialIds:
    """Names that count up, where the product would draw random ones: `id-1`, `id-2`."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._last = 0

    def __call__(self) -> str:
        self._last += 1
        return f"{self._prefix}-{self._last}"


class HashEmbedder(EmbedderPort):
    """Vectors from the hashes of words: texts that share words are near, others are not.

    Args:
        dimension: Slots that each word falls into twice; fewer make more words collide.
    """

    def __init__(self, dimension: int = 512) -> None:
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def version(self) -> str:
        return f"hash-{self._dimension}@1"

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        return Ok(
            np.array([self._vector(t) for t in texts], np.float32).reshape(-1, self._dimension)
        )

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self._dimension, np.float32)
        for word in _words(text) or [""]:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            for half in (digest[:4], digest[4:]):
                vector[int.from_bytes(half, "big") % self._dimension] += 1
        return vector / np.float32(np.linalg.norm(vector))


class LexicalReranker(RerankerPort):
    """Scores a passage by the share of the question's telling words that it holds.

    Words of up to three letters tell nothing, so that "the" is no evidence.
    """

    async def rank(self, question: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        wanted = {word for word in _words(question) if len(word) >= _TELLING}
        scored = [
            ScoredChunk(chunk, len(wanted & set(_words(chunk.indexed_text))) / max(1, len(wanted)))
            for chunk in chunks
        ]
        return Ok(sorted(scored, key=lambda hit: -hit.score))


class CapturingChannel(NullBroadcaster):
    """A channel for a tool under test: what it pushed is kept, its markers resolve."""

    def __init__(self) -> None:
        super().__init__(
            ChannelKey.derive("conversation", "reader"), MemoryReferenceStore(), FrozenClock().now
        )

    def payloads(self) -> tuple[Renderable, ...]:
        """Return what was pushed, in order."""
        return tuple(envelope.payload for envelope in self.captured())


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
