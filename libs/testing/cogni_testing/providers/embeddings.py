"""Vectors and the list of models, as the vendors' clients ask for them."""

import base64
from collections.abc import Sequence

import numpy as np

from cogni_kernel import Err
from cogni_testing.doubles import HashEmbedder
from cogni_testing.providers.script import Turn


async def embeddings(body: dict[str, object], turn: Turn) -> dict[str, object]:
    """Return the vectors of texts, as numbers or as base64 of their bytes."""
    asked = body["input"]
    texts = [asked] if isinstance(asked, str) else [str(text) for text in _listed(asked)]
    wanted = body.get("dimensions")
    embedder = HashEmbedder(wanted) if isinstance(wanted, int) else HashEmbedder()
    made = await embedder.embed(texts)
    if isinstance(made, Err):
        raise ValueError(made.error)
    packed = body.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": number,
            "embedding": _packed(vector) if packed else [float(x) for x in vector],
        }
        for number, vector in enumerate(made.value)
    ]
    read = turn.usage[0] if turn.usage is not None else 0
    used = {"prompt_tokens": read, "total_tokens": read}
    return {"object": "list", "model": body.get("model"), "data": data, "usage": used}


def models(names: Sequence[str]) -> dict[str, object]:
    """Return the list of models, in a shape that both vendors' clients read."""
    data = [
        {
            "id": name,
            "object": "model",
            "type": "model",
            "display_name": name,
            "created": 1_700_000_000,
            "created_at": "2023-11-14T22:13:20Z",
            "owned_by": "double",
        }
        for name in names
    ]
    ends = {"first_id": names[0], "last_id": names[-1]} if names else {}
    return {"object": "list", "data": data, "has_more": False, **ends}


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")


def _listed(asked: object) -> list[object]:
    return asked if isinstance(asked, list) else []
