"""Text to vectors."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from cogni_kernel import Result

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Shape (n, dimension), each row of length 1."""


class EmbedderPort(Protocol):
    """Implementations must pass `contracts.embedder.EmbedderContract`."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    @property
    def version(self) -> str:
        """The model and its engine. Vectors of two versions are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        """Return one vector a text, in order; an empty text has a vector too.

        Errors:
            UpstreamError: The model could not be run or reached.
        """
        ...
