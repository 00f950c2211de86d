"""A model's name must mean one model: answers are compared, elected and rolled back by it."""

import re

from cogni_kernel import DefinitionError

_FLOATING = re.compile(r"(?:^|[-:@/._])(?:latest|default|auto|current)$", re.IGNORECASE)
_HOSTED = re.compile(r"(?:^|[/.])(?:gpt-?\d|chatgpt|o\d|codex|claude|gemini)", re.IGNORECASE)
_SNAPSHOT = re.compile(
    r"-(?:20\d{2}-\d{2}-\d{2}|20\d{6}|\d{4})\b|-0\d{2}$|@20\d{6}|^ft:", re.IGNORECASE
)
_OWN_SNAPSHOT = re.compile(
    r"claude-[a-z]+-(?:4-(?:[6-9]|\d{2})|[5-9](?:-\d{1,2})?|\d{2}(?:-\d{1,2})?)(?:-v\d+(?::\d+)?)?$"
    r"|gpt-\d+(?:\.\d+)?-(?:astra|luna|sol|terra)$",
    re.IGNORECASE,
)
"""Generations whose names without a date are the snapshots, by their vendors' word."""
_OPEN_WEIGHTS = re.compile(r"gpt-oss", re.IGNORECASE)


def pinned(model: str) -> str:
    """Return the name as it is, if it can only ever mean one model.

    Names of vendors whose models change behind their names need a snapshot's date, where their vendor gives
    dates; the names of open weights are their versions. `latest` and its kind never are.

    Raises:
        DefinitionError: The name is missing or floating; says what would do.
    """
    name = model.strip()
    if not name:
        raise DefinitionError(
            "a model provider is named, but no model: name one version, like gpt-4.1-2025-04-14"
        )
    is_hosted = _HOSTED.search(name) and not _OPEN_WEIGHTS.search(name)
    is_version = _SNAPSHOT.search(name) or _OWN_SNAPSHOT.search(name)
    if _FLOATING.search(name) or (is_hosted and not is_version):
        raise DefinitionError(
            f"{name!r} may become another model any day: name one version of it, with its date like "
            "gpt-4.1-2025-04-14 or claude-haiku-4-5-20251001, or a tag like qwen3:8b"
        )
    return name
