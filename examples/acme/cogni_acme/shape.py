"""What a value from a YAML file must look like, or a ValueError that names its place."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import yaml


def read_yaml(path: Path) -> object:
    """Read one file.

    Raises:
        ValueError: It is not YAML, or names a key twice; says which file and line.
    """
    try:
        return yaml.load(path.read_bytes(), Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name}: {error}") from error


def mapping(value: object, where: str, keys: frozenset[str] | None = None) -> dict[str, object]:
    """Return `value` as a mapping of names.

    Args:
        value: What was read.
        where: Its place, for the message.
        keys: The only ones allowed: a misspelt `deny` must not open a page.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{where}: expected named values")
    if keys is not None and (unknown := sorted(set(value) - keys)):
        raise ValueError(
            f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(keys))}"
        )
    return dict(value)


def listing(value: object, where: str) -> list[object]:
    """Return `value` as a list."""
    if not isinstance(value, list):
        raise ValueError(f"{where}: expected a list")
    return value


def text(value: object, where: str) -> str:
    """Return `value` as text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: expected text")
    return value.strip()


def texts(value: object, where: str) -> tuple[str, ...]:
    """Return `value` as texts, in order, none twice."""
    found = tuple(text(entry, where) for entry in listing(value, where))
    if len(set(found)) < len(found):
        raise ValueError(f"{where}: an entry appears twice")
    return found


def choice(value: object, where: str, options: frozenset[str]) -> str:
    """Return `value`, one of `options`."""
    found = text(value, where)
    if found not in options:
        raise ValueError(f"{where}: {found} is not one of {', '.join(sorted(options))}")
    return found


def values(words: type[Enum]) -> frozenset[str]:
    """Return the options that an enumeration of words gives."""
    return frozenset(word.value for word in words)


class _UniqueKeys(yaml.SafeLoader):
    """YAML lets the last of two equal keys win, which would drop a restriction without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:  # noqa: FBT001
        keys = [key.value for key, _ in node.value]
        if len(set(keys)) < len(keys):
            raise yaml.constructor.ConstructorError(
                None, None, "a key appears twice", node.start_mark
            )
        return dict(super().construct_mapping(node, deep))
