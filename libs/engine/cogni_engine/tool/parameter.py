"""One argument of a tool: its type, its reader's description, and the words it may take."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from cogni_kernel import Err, HumanText, InvalidArgumentError, ModelFacingText, Ok, Result


class ParameterType(Enum):
    """A JSON type; the value is its JSON Schema name."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRINGS = "array"


_PYTHON: Mapping[ParameterType, tuple[type, ...]] = {
    ParameterType.STRING: (str,),
    ParameterType.INTEGER: (int,),
    ParameterType.NUMBER: (int, float),
    ParameterType.BOOLEAN: (bool,),
    ParameterType.STRINGS: (list,),
}


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
MOST_INTEGER = 2**63 - 1


class Vocabulary(Protocol):
    """A closed set of internal identifiers behind human names."""

    def names(self) -> tuple[str, ...]:
        """Return the names that the model is told."""
        ...

    def resolve(self, spoken: str) -> Result[str]:
        """Return the identifier behind a name, or an InvalidArgumentError that says which names exist."""
        ...


@dataclass(frozen=True, slots=True)
class Parameter:
    """Declared by a tool's author.

    Where a value is drawn from a closed set of internal identifiers, attach a vocabulary: the model names a
    human word, the service resolves it.

    Raises:
        ValueError: The name is not one that every provider takes, or the description is blank.

    Source:
        COGNI.BUILD spec, package engine, "Parameter".
    """

    name: str
    type: ParameterType
    description: ModelFacingText
    required: bool = True
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.description.is_blank():
            raise ValueError(f"a parameter needs an ASCII name and a description: {self.name!r}")
        if self.vocabulary is not None and self.type is not ParameterType.STRING:
            raise ValueError(f"{self.name}: only a string can come from a vocabulary")

    def validate(self, value: object) -> Result[object]:
        """Check the type without coercing, and resolve a vocabulary's word.

        An integer fits in 64 bits and a number is finite, so that what a tool hands on is never too large.
        """
        if not self._has_type(value):
            return Err(
                InvalidArgumentError(
                    HumanText("The assistant filled in a form wrongly."),
                    ModelFacingText(
                        f"{self.name} must be a JSON {self.type.value}. {self.description}"
                    ),
                )
            )
        if self.vocabulary is not None and isinstance(value, str):
            return self.vocabulary.resolve(value)
        return Ok(value)

    def _has_type(self, value: object) -> bool:
        if isinstance(value, bool) and self.type is not ParameterType.BOOLEAN:
            return False
        if not isinstance(value, _PYTHON[self.type]):
            return False
        if isinstance(value, list):
            return all(isinstance(v, str) for v in value)
        if self.type is ParameterType.INTEGER and isinstance(value, int):
            return abs(value) <= MOST_INTEGER
        return not isinstance(value, int | float) or _is_finite(value)

    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the value."""
        schema: dict[str, object] = {"type": self.type.value, "description": str(self.description)}
        if self.type is ParameterType.STRINGS:
            schema["items"] = {"type": "string"}
        names = self.vocabulary.names() if self.vocabulary is not None else ()
        if names:
            schema["enum"] = list(names)
        return schema


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
