"""Sources of one run: issued when a passage is given to the model, and only then."""

from dataclasses import dataclass
from enum import Enum

from cogni_domain.knowledge.corpus import Chunk
from cogni_kernel import ChunkId, DocumentId, RunRef


@dataclass(frozen=True, slots=True)
class CitationHandle:
    """`s1`: short, opaque, good in the run that issued it and nowhere else."""

    token: str

    def __str__(self) -> str:
        return self.token


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that a run may cite.

    Attributes:
        label: The document's title.
        locator: The passage's place, as a person would say it.
    """

    handle: CitationHandle
    label: str
    locator: str
    document_id: DocumentId
    chunk_id: ChunkId


class Unissued(Enum):
    """What an invented handle resolves to."""

    UNISSUED = "unissued"


class CitationIssuer:
    """Issues the handles of one run, numbered by its conversation.

    Source:
        COGNI.BUILD spec, package domain, "CitationIssuer"; DESIGN D6.
    """

    def __init__(self, run: RunRef) -> None:
        self.run = run
        self._issued: dict[str, Citation] = {}
        self._by_chunk: dict[ChunkId, Citation] = {}
        self._last = 0

    def go_on_from(self, number: int) -> None:
        """Give the next new passage this number, which the conversation reserved for this run."""
        self._last = number - 1

    def has_issued(self, chunk: ChunkId) -> bool:
        """Tell whether the passage has a handle already."""
        return chunk in self._by_chunk

    def issue(self, chunk: Chunk) -> Citation:
        """Return the citation of a passage that is given to the model; the same passage keeps its handle."""
        known = self._by_chunk.get(chunk.id)
        if known is not None:
            return known
        self._last += 1
        handle = CitationHandle(f"s{self._last}")
        citation = Citation(handle, chunk.title, chunk.place, chunk.document_id, chunk.id)
        self._issued[handle.token] = citation
        self._by_chunk[chunk.id] = citation
        return citation

    def resolve(self, token: str) -> Citation | Unissued:
        """Return what a handle stands for in this run, to the letter."""
        return self._issued.get(token, Unissued.UNISSUED)

    def issued(self) -> tuple[Citation, ...]:
        """Return all citations, in the order issued."""
        return tuple(self._issued.values())
