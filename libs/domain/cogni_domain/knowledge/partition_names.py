"""What an index is called in an engine, and how ids and tokens are kept in one that is strict about text."""

import json
from hashlib import sha256

from cogni_domain.knowledge.corpus import IndexId


def partition_name(index: IndexId) -> str:
    """Return 32 hexadecimal digits that no two indexes share, whatever their ids hold."""
    parts = json.dumps([str(index.tenant_id), str(index.corpus_id), index.generation])
    return sha256(parts.encode()).hexdigest()[:32]


def kept(text: object) -> str:
    """Return a text in a form that any engine keeps and tells apart: no character of it is above 255.

    An engine that keeps UTF-8 would refuse lone surrogates, or take one for another.
    """
    return str(text).encode(errors="surrogatepass").decode("latin-1")


def read_back(text: str) -> str:
    """Return what was given to `kept`."""
    return text.encode("latin-1").decode(errors="surrogatepass")
