"""One index in memory: its passages, their documents, and what a predicate is evaluated on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from cogni_domain.access.predicate import Predicate, admits
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit
from cogni_kernel import ChunkId, DocumentId, Err, HumanText, InvalidArgumentError

MAX_K = 1_000

Indexed = TypeVar("Indexed")


@dataclass(frozen=True, slots=True)
class Row(Generic[Indexed]):
    """A passage, and what it is searched by."""

    chunk: Chunk
    indexed: Indexed


class Partition(Generic[Indexed]):
    """The rows of one index."""

    def __init__(self) -> None:
        self._rows: dict[ChunkId, Row[Indexed]] = {}

    def replace_documents(self, chunks: Sequence[Chunk], indexed: Iterable[Indexed]) -> int:
        """Put these passages in place of all of their documents; return how many there are."""
        rows = [Row(chunk, one) for chunk, one in zip(chunks, indexed, strict=True)]
        self.delete({chunk.document_id for chunk in chunks})
        self._rows.update({row.chunk.id: row for row in rows})
        return len(rows)

    def delete(self, documents: Iterable[DocumentId]) -> int:
        """Remove every passage of the documents; return how many went."""
        gone = set(documents)
        before = len(self._rows)
        self._rows = {r.chunk.id: r for r in self._rows.values() if r.chunk.document_id not in gone}
        return before - len(self._rows)

    def relabel(self, document: DocumentId, readers: frozenset[ReaderToken]) -> int:
        """Change the readers of a document's passages; return how many changed."""
        changed = {
            row.chunk.id: replace(row, chunk=replace(row.chunk, readers=readers))
            for row in self._rows.values()
            if row.chunk.document_id == document and row.chunk.readers != readers
        }
        self._rows.update(changed)
        return len(changed)

    def visible(self, predicate: Predicate) -> Iterator[Row[Indexed]]:
        """Return the rows that satisfy `predicate`."""
        return (r for r in self._rows.values() if admits(predicate, r.chunk.labels()))


def refuse_k(k: int) -> Err | None:
    """Return the refusal of a `k` that is out of range."""
    if 1 <= k <= MAX_K:
        return None
    return Err(InvalidArgumentError(HumanText(f"Between 1 and {MAX_K} passages can be asked for.")))


def best(hits: Iterable[Hit], k: int) -> list[Hit]:
    """Return the `k` best, equal ones in the order of their ids."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]
