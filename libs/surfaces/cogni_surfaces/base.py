"""What a channel must provide to be a surface: sources, freshness and the label, or it does not define."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, final

from cogni_engine import Delta, Effect
from cogni_kernel import DefinitionError
from cogni_surfaces.texts import Language

_REQUIRED = ("render_body", "render_provenance", "render_freshness", "render_generated_label")


@dataclass(frozen=True, slots=True)
class SurfaceCapabilities:
    """What a surface can do. Without a confirmation step it is read only.

    Attributes:
        max_output_length: Characters of an answer that are shown at once, None for all.
    """

    streaming: bool = False
    rich_artifacts: bool = False
    inline_suggestion: bool = False
    attachments: bool = False
    confirmation_ui: bool = False
    max_output_length: int | None = None

    def __post_init__(self) -> None:
        if self.max_output_length is not None and self.max_output_length < 1:
            raise ValueError("a surface shows at least one character")


class Confirmation(Enum):
    """What a person said to a proposal, or that this surface cannot ask."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    UNSUPPORTED = "unsupported"


class Base(ABC):
    """Subclass it, name it, say what it can do, write the four `render_` methods.

    A channel that can neither show sources nor obtain a confirmation is no surface, but something to notify.

    Attributes:
        effects: What may be offered there; READ alone where nobody can confirm a change.
        framed: Whether edge serves it as a frame for a host page.

    Raises:
        DefinitionError: When a subclass is defined that lacks one, or that composes answers by itself.

    Source:
        COGNI.BUILD spec, package surfaces, "Base".
    """

    id: ClassVar[str]
    capabilities: ClassVar[SurfaceCapabilities]
    effects: ClassVar[frozenset[Effect]]
    framed: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in _REQUIRED:
            if getattr(getattr(cls, name), "__isabstractmethod__", False):
                raise DefinitionError(f"{cls.__name__}: write {name}, no answer is shown without")
        if "render" in vars(cls):
            raise DefinitionError(f"{cls.__name__}: answers are put together by Base alone")
        if not isinstance(getattr(cls, "id", None), str):
            raise DefinitionError(f"{cls.__name__}: declare id, the name that callers use")
        if not isinstance(getattr(cls, "capabilities", None), SurfaceCapabilities):
            raise DefinitionError(f"{cls.__name__}: declare capabilities, a SurfaceCapabilities")
        confirms = cls.capabilities.confirmation_ui
        cls.effects = frozenset(Effect) if confirms else frozenset({Effect.READ})

    def __init__(self, language: Language = Language.EN) -> None:
        self.language = language

    @abstractmethod
    def render_body(self, outcome: Mapping[str, object]) -> str:
        """Return the answer's own text, with its sources and widgets in their places."""

    @abstractmethod
    def render_provenance(self, citations: Sequence[Mapping[str, object]]) -> str:
        """Return the sources, or that there are none."""

    @abstractmethod
    def render_freshness(self, indexed_through: object) -> str:
        """Return up to when the sources were read; ISO 8601, None where it is not known."""

    @abstractmethod
    def render_generated_label(self) -> str:
        """Return what says that the answer was generated."""

    @final
    def render(self, outcome: Mapping[str, object]) -> str:
        """Return an outcome as this surface shows it: nothing in it can leave out what is owed."""
        citations = outcome.get("citations")
        parts = (
            self.render_body(outcome),
            self.render_provenance(citations if isinstance(citations, list) else []),
            self.render_freshness(outcome.get("indexed_through")),
            self.render_generated_label(),
        )
        return "".join(parts)

    def stream(self, delta: Delta) -> str | None:  # noqa: ARG002 - for those that stream
        """Return what is shown of a delta at once, None where it is declined."""
        return None

    async def confirm(self, proposal: Mapping[str, object]) -> Confirmation:  # noqa: ARG002 - for those that ask
        """Show a proposal and ask the person."""
        return Confirmation.UNSUPPORTED
