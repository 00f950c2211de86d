"""Searching from inside a tool: within the run's own scope, which no tool can widen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cogni_domain.knowledge.citations import Citation
from cogni_kernel import Result


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage given to the model, and what it is cited as; the engine's `CitationRef`."""

    citation: Citation
    text: str

    @property
    def handle(self) -> str:
        """The token to cite it with, `s1`."""
        return self.citation.handle.token


class Passages(Protocol):
    """What a tool that searches names in its `requires`; one per run, bound to its principal."""

    async def search(self, question: str) -> Result[Sequence[CitedPassage]]:
        """Return permitted passages that fit, best first; empty where there are none.

        Errors:
            InvalidArgumentError: The question is blank.
        """
        ...
