"""What every store of passages refuses before it asks its engine."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cogni_domain.knowledge.corpus import Chunk, IndexId
from cogni_kernel import Err, HumanText, InvalidArgumentError

MAX_K = 1_000

BAD_K = Err(InvalidArgumentError(HumanText(f"Ask for 1 to {MAX_K:,} passages.")))
FOREIGN_CHUNK = Err(
    InvalidArgumentError(HumanText("An index holds the passages of one corpus of one tenant."))
)
NOT_VECTORS = Err(
    InvalidArgumentError(HumanText("Every passage needs one vector of finite numbers."))
)
OTHER_DIMENSION = Err(
    InvalidArgumentError(
        HumanText("This index was written by another embedding model: rebuild it.")
    )
)


def refused_passages(index: IndexId, chunks: Sequence[Chunk]) -> Err | None:
    """Return the refusal of passages of another tenant or corpus."""
    place = (index.tenant_id, index.corpus_id)
    foreign = any((chunk.tenant_id, chunk.corpus_id) != place for chunk in chunks)
    return FOREIGN_CHUNK if foreign else None


def refused_vectors(
    index: IndexId, chunks: Sequence[Chunk], vectors: npt.NDArray[np.float32]
) -> Err | None:
    """Return the refusal of what is not one vector for each passage of the index."""
    if vectors.ndim != 2 or len(vectors) != len(chunks) or not np.isfinite(vectors).all():
        return NOT_VECTORS
    return refused_passages(index, chunks)


def refused_question(vector: npt.NDArray[np.float32], k: int) -> Err | None:
    """Return the refusal of what is not one vector, or of a `k` out of range."""
    if not 1 <= k <= MAX_K:
        return BAD_K
    return NOT_VECTORS if len(vector) != 1 or not np.isfinite(vector).all() else None
