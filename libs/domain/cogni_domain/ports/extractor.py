"""Turning a file into text, elsewhere."""

from typing import Protocol

from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped


class ExtractorPort(Protocol):
    """Implementations must pass `contracts.extractor.ExtractorContract`."""

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        """Read one file in a process of its own, within limits and without a network.

        The content decides the type, `name` only helps where the content does not. Never raises for
        what a file holds: a crash, a hang or a bomb in there is a `Skipped`.

        Args:
            name: The file's name, as shown to a person.
            data: The whole file.
        """
        ...
