"""Reading an answer: each of these takes what is there or says that the answer is not what was promised."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cogni_adapters.rest.failures import unexpected


def mapping(value: object, *path: str) -> Mapping[str, Any]:
    """Return the object at a path of names."""
    for name in path:
        value = mapping(value).get(name)
    if not isinstance(value, Mapping):
        raise unexpected(f"no object at {'.'.join(path) or 'the top'}")
    return value


def items(value: object, *path: str) -> Sequence[Any]:
    """Return the list at a path: one that is absent is not one that is empty."""
    *above, last = path or ("",)
    found = mapping(value, *above).get(last) if path else value
    if not isinstance(found, list | tuple):
        raise unexpected(f"no list at {'.'.join(path) or 'the top'}")
    return found


def text(value: object, *path: str) -> str:
    """Return the text at a path; a number there is taken as its digits, since ids come as either."""
    *above, last = path
    found = mapping(value, *above).get(last)
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise unexpected(f"no text at {'.'.join(path)}")
    return str(found)


def flag(value: object, *path: str) -> bool:
    """Return the truth value at a path."""
    *above, last = path
    found = mapping(value, *above).get(last)
    if not isinstance(found, bool):
        raise unexpected(f"neither true nor false at {'.'.join(path)}")
    return found


def number(value: object, *path: str) -> int:
    """Return the whole number at a path."""
    *above, last = path
    found = mapping(value, *above).get(last)
    if isinstance(found, bool) or not isinstance(found, int):
        raise unexpected(f"no number at {'.'.join(path)}")
    return found


def moment(value: object, *path: str) -> datetime:
    """Return the time at a path, in UTC; one without a zone is refused, since nobody knows whose it is."""
    said = text(value, *path)
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        raise unexpected(f"no time at {'.'.join(path)}") from None
    if found.tzinfo is None:
        raise unexpected(f"a time without a zone at {'.'.join(path)}")
    return found.astimezone(UTC)
