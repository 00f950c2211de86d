"""One index folder: what is written to it, and what is found in it."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import tantivy
from tantivy import Query

from cogni_adapters.tantivy.passages import Stored, row, schema, stored
from cogni_adapters.tantivy.visible import VisibleSearch, total
from cogni_domain.access.predicate import Predicate
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.knowledge.corpus import Chunk, Hit
from cogni_kernel import DocumentId

WRITER_BYTES = 32_000_000
"""What passages wait in before they become a segment; the one thread that indexes has it."""


class Partition:
    """A Tantivy index. Calls block; those that write come one at a time.

    A write is one commit: after a crash the index stands as before it or as after it.

    Raises:
        ValueError, OSError: The engine could not read or write the folder.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._schema = schema()
        self._index = tantivy.Index(self._schema, str(folder))
        self._index.config_reader("manual")
        self._index.reload()
        self._writer: tantivy.IndexWriter | None = None

    @staticmethod
    def exists(folder: Path) -> bool:
        """Tell whether an index was begun there."""
        return folder.is_dir() and tantivy.Index.exists(str(folder))

    def search(self, terms: Sequence[str], predicate: Predicate, k: int) -> list[Hit]:
        """Return the best passages that the predicate admits."""
        return VisibleSearch(self._index.searcher(), self._schema, predicate).best(terms, k)

    def replace(self, passages: Sequence[tuple[Chunk, Sequence[str]]]) -> int:
        """Put these passages in place of all that there are of their documents."""
        rows = [stored(chunk, terms) for chunk, terms in passages]
        self._rewrite({str(chunk.document_id) for chunk, _ in passages}, rows)
        return len(rows)

    def delete(self, documents: Iterable[DocumentId]) -> int:
        """Remove the passages of the documents; return how many there were."""
        self._open_writer()
        held = {name: self._count(name) for name in set(map(str, documents))}
        self._rewrite([name for name, count in held.items() if count], [])
        return sum(held.values())

    def relabel(self, documents: Iterable[DocumentId], readers: frozenset[ReaderToken]) -> int:
        """Write the passages of documents anew, for other readers; return how many had others."""
        self._open_writer()
        held = {name: self._rows(name) for name in set(map(str, documents))}
        others = {
            name: sum(set(fields["readers"]) != readers for fields in rows)
            for name, rows in held.items()
        }
        changed = [name for name, count in others.items() if count]
        rows = [{**f, "readers": sorted(readers)} for name in changed for f in held[name]]
        self._rewrite(changed, rows)
        return sum(others.values())

    def close_writer(self) -> None:
        """Let running merges end, and give the writer's memory back."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def _open_writer(self) -> tantivy.IndexWriter:
        """Return the writer, which starts from what is on disk, whoever wrote it."""
        if self._writer is None:
            self._writer = self._index.writer(WRITER_BYTES, 1)
            self._index.reload()
        return self._writer

    def _rewrite(self, documents: Collection[str], rows: Sequence[Stored]) -> None:
        if not documents:
            return
        # A writer that failed is good for nothing: it is put back only after it did its work.
        writer, self._writer = self._open_writer(), None
        for document in documents:
            writer.delete_documents_by_term("document", document)
        for fields in rows:
            writer.add_document(row(fields))
        writer.commit()
        self._index.reload()
        self._writer = writer

    def _rows(self, document: str) -> list[Stored]:
        searcher = self._index.searcher()
        hits = searcher.search(self._of(document), max(1, self._count(document))).hits
        return [{"readers": [], **searcher.doc(address).to_dict()} for _, address in hits]

    def _count(self, document: str) -> int:
        return total(self._index.searcher().search(self._of(document), 1))

    def _of(self, document: str) -> Query:
        return Query.term_query(self._schema, "document", document, "basic")
