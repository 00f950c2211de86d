"""What an author says of a tool, validated once, when it is declared."""

import re
from dataclasses import dataclass, replace
from enum import Enum

from cogni_engine.tool.parameter import Parameter
from cogni_kernel import DefinitionError, HumanText, ModelFacingText, SemVer, ToolName

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)


class Effect(Enum):
    """What a call does to the world; declared, never inferred."""

    READ = "read"
    MUTATE = "mutate"


class CostBand(Enum):
    """What a call costs, roughly."""

    CHEAP = "cheap"
    MODERATE = "moderate"
    EXPENSIVE = "expensive"


class EchoForm(Enum):
    """How the screen shows a result."""

    STRUCTURED = "structured"
    TEXT = "text"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Echo:
    """The screen's route of a result. `limit` is in code points, for TEXT alone."""

    form: EchoForm = EchoForm.TEXT
    limit: int = 4000

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError("an echo's limit is at least 1")


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as a model and an administrator read it.

    Source:
        COGNI.BUILD spec, package engine, "Definition"; the echo: DESIGN D12.
    """

    name: ToolName
    version: SemVer
    does: ModelFacingText
    use_when: ModelFacingText
    do_not_use: ModelFacingText
    instead: ModelFacingText | None = None
    parameters: tuple[Parameter, ...] = ()
    returns: ModelFacingText | None = None
    echo: Echo = Echo()
    activity: HumanText = HumanText("Looking it up")  # noqa: RUF009 - a frozen value

    @property
    def description(self) -> ModelFacingText:
        """The whole description as the model reads it."""
        parts = [str(self.does), f"Use it when {self.use_when}."]
        if self.states_when_not_to_use():
            parts.append(f"Do not use it {self.do_not_use}.")
        if self.instead is not None:
            parts.append(f"Instead, {self.instead}.")
        if self.returns is not None:
            parts.append(f"Returns {self.returns}.")
        return ModelFacingText(" ".join(parts))

    def states_when_not_to_use(self) -> bool:
        """Tell whether the negative clause is there: it stops the plausible wrong selection."""
        return not self.do_not_use.is_blank()

    def to_wire(self) -> dict[str, object]:
        """Return name, description and parameters as JSON Schema, in no provider's frame."""
        return {
            "name": str(self.name),
            "description": str(self.description),
            "parameters": {
                "type": "object",
                "properties": {p.name: p.to_schema() for p in self.parameters},
                "required": [p.name for p in self.parameters if p.required],
                "additionalProperties": False,
            },
        }

    def for_external_caller(self, product: str) -> "Definition":
        """Return the description for software that does not know the product.

        Args:
            product: The product's name, as outsiders know it.
        """
        does = f"In {product}: {self.does} Each call stands alone: nothing is remembered between calls."
        return replace(self, does=ModelFacingText(does))


def describe(  # noqa: PLR0913 - the words of a declaration
    name: str,
    *,
    does: str,
    use_when: str,
    do_not_use: str = "",
    instead: str | None = None,
    parameters: tuple[Parameter, ...] = (),
    returns: str | None = None,
    version: str = "1.0.0",
    echo: Echo | None = None,
    activity: str = "Looking it up",
) -> Definition:
    """Declare a tool. `activity` is what the person reads while it runs: "Searching the handbook".

    `do_not_use` has a default so that leaving it out is refused here, with the others.

    Raises:
        DefinitionError: The name, version or a clause is wrong; says which, and what to write.
    """
    if not _NAME.fullmatch(name):
        raise DefinitionError(
            f"{name!r}: a tool's name is lower-case letters, digits and _, at most 64"
        )
    names = [p.name for p in parameters]
    if len(set(names)) < len(names):
        raise DefinitionError(f"{name}: two parameters share a name")
    try:
        number = SemVer.parse(version)
    except ValueError as wrong:
        raise DefinitionError(f"{name}: {wrong}") from wrong
    definition = Definition(
        ToolName(name),
        number,
        ModelFacingText(f"{_clause(does)}."),
        _clause(use_when),
        _clause(do_not_use),
        _clause(instead) if instead else None,
        parameters,
        _clause(returns) if returns else None,
        echo or Echo(),
        HumanText(activity),
    )
    if _clause(does).is_blank() or definition.use_when.is_blank():
        raise DefinitionError(f"{name}: say what it does and when to use it")
    if not definition.states_when_not_to_use():
        raise DefinitionError(f"{name}: say when NOT to use it (do_not_use)")
    return definition


def _clause(text: str) -> ModelFacingText:
    return ModelFacingText(text.strip().rstrip("."))
