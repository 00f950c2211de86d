"""A closer look at a few passages."""

from collections.abc import Sequence
from typing import Protocol

from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_kernel import Result


class RerankerPort(Protocol):
    """Implementations must pass `contracts.reranker.RerankerContract`."""

    async def rank(self, question: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        """Score each pair of question and passage, best first; every passage comes back once.

        Scores lie in 0 to 1 and are comparable between questions, so that a floor can tell "nothing found".
        """
        ...
