"""Paths as bytes, as ids and as a person reads them."""

import unicodedata
from typing import TypeAlias
from urllib.parse import quote_from_bytes, unquote_to_bytes

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text

RelativePath: TypeAlias = tuple[bytes, ...]
"""The names from the root down, each as the file system holds it; empty for the root itself."""


def to_source_id(path: RelativePath) -> str:
    """Return the id: one for every path, also for names that are not UTF-8 or look alike.

    >>> to_source_id((b"hr", b"Caf\\xc3\\xa9 1.md"))
    'hr/Caf%C3%A9%201.md'
    """
    return quote_from_bytes(b"/".join(path), safe="/")


def to_path(source_id: str) -> RelativePath:
    """Return the path: the inverse of `to_source_id`."""
    return tuple(unquote_to_bytes(source_id).split(b"/")) if source_id else ()


def shown(name: bytes) -> str:
    """Return a name as a person reads it: NFC, bytes that are no text replaced, nothing hidden."""
    text = unicodedata.normalize("NFC", name.decode("utf-8", "replace"))
    return neutralise_hidden_text(text)
