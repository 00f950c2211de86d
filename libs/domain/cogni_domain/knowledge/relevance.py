"""What is evidence at all: below a floor a passage does not speak of what was asked."""

from dataclasses import dataclass

FLOOR = 0.4
"""Of the reranker's scores; how it was found, and what it cannot tell: docs/adr/0004-relevance-floor.md."""


@dataclass(frozen=True, slots=True)
class RelevancePolicy:
    """Decides, by a reranker's score alone, whether a passage may be given to the model.

    Attributes:
        floor: The lowest score of evidence, 0 to 1. It belongs to one reranker.

    Raises:
        ValueError: The floor is not between 0 and 1.
    """

    floor: float = FLOOR

    def __post_init__(self) -> None:
        if not 0 <= self.floor <= 1:
            raise ValueError(f"a relevance floor lies between 0 and 1: {self.floor}")

    def admits(self, score: float) -> bool:
        """Tell whether a passage with this score is evidence; what is not a number is not.

        >>> RelevancePolicy(0.4).admits(0.4), RelevancePolicy(0.4).admits(0.39)
        (True, False)
        """
        return score >= self.floor
