"""How a reader says that a file gives no text."""

from cogni_domain.knowledge.extracted import Reason


class NotExtractedError(Exception):
    """Ends the reading of a file; becomes a `Skipped`.

    Attributes:
        reason: The kind of obstacle.
        explanation: One sentence for an administrator. Never holds content of the file.
    """

    def __init__(self, reason: Reason, explanation: str) -> None:
        super().__init__(explanation)
        self.reason = reason
        self.explanation = explanation

    @classmethod
    def corrupt(cls, explanation: str) -> "NotExtractedError":
        return cls(Reason.CORRUPT, explanation)


class TextLimitReachedError(Exception):
    """The text is as long as the limits allow: what was read so far is the document."""
