"""Other readers for a whole folder, and its deletion: until it counts, until the indexes follow, and what was embedded.

`COGNI_BENCH_DOCUMENTS` sets how many documents, 1,000 by default; the limit is ten seconds for 10,000.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cogni_domain.access.rule import AccessRule
from cogni_domain.jobs import Lane
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.ports.extractor import ExtractorPort
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.sources import HOME, FolderSource, request_folder
from cogni_kernel import Ok, Result
from cogni_runtime.bindings import embedded, folder_connector, migrate
from cogni_testing import HashEmbedder, ok

DOCUMENTS = int(os.environ.get("COGNI_BENCH_DOCUMENTS", "1000"))
LIMIT_S = 10.0 * DOCUMENTS / 10_000
EVERYONE, HR = AccessRule.everyone(), AccessRule.any_of("g:directory/hr")


class PlainText(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        return ExtractedDocument(name, (Block(BlockKind.PARAGRAPH, data.decode()),), "text/plain")


class Counting(HashEmbedder):
    embedded = 0

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        self.embedded += len(texts)
        return await super().embed(texts)


async def measure() -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as folder:
        for number in range(DOCUMENTS):
            (Path(folder) / f"{number:05}.txt").write_text(f"Page {number} of the handbook.")
        migrate(Path(data))
        bindings = embedded(Path(data), {})
        embedder = Counting()
        bindings.container.swap(EmbedderPort, embedder)
        bindings.container.swap(ExtractorPort, PlainText())
        product = build(bindings)
        corpus = await _read(product, Path(folder))
        connector = folder_connector(Path(folder), EVERYONE, PlainText())
        listed = await _events(connector)
        embedder.embedded = 0
        narrowed = [replace(e, kind=ChangeKind.ACL_CHANGED) for e in listed]
        narrowed = [
            replace(e, document=replace(e.document, rule=HR)) for e in narrowed if e.document
        ]
        gone = [ChangeEvent(ChangeKind.DELETED, e.source_id) for e in listed]
        found = []
        for name, events in (("permission change", narrowed), ("deletion", gone)):
            figures = await _change(product, corpus, connector, events)
            ratio = float(str(figures["indexed_s"])) / LIMIT_S
            found.append(
                {
                    "what": name,
                    **figures,
                    "embedded": embedder.embedded,
                    "ratio_limit": round(ratio, 3),
                }
            )
        await bindings.close()
    return iter(found)


async def _read(product: Product, folder: Path) -> Corpus:
    ok(await product.seed.plant(product.demo))
    source = FolderSource(folder, "bench")
    ok(await request_folder(product.indexing, product.seed, source))
    await product.lanes[Lane.INDEXING].work_off()
    documents = product.bindings.container.resolve(DocumentStorePort)
    return next(c for c in ok(await documents.corpora(HOME)) if c.id == source.corpus_id)


async def _events(connector: ConnectorPort) -> list[ChangeEvent]:
    events: list[ChangeEvent] = []
    cursor: str | None = None
    while True:
        page = await connector.enumerate(cursor)
        assert isinstance(page, Ok)
        events += [ChangeEvent(ChangeKind.EDITED, d.source_id, d) for d in page.value.documents]
        cursor = page.value.next_cursor
        if cursor is None:
            return events


async def _change(
    product: Product, corpus: Corpus, connector: ConnectorPort, events: Sequence[ChangeEvent]
) -> dict[str, object]:
    started = time.perf_counter()
    ok(await product.indexing.on_changes(corpus, connector, events))
    counts = time.perf_counter() - started
    await product.lanes[Lane.INDEXING].work_off()
    indexed = time.perf_counter() - started
    return {
        "documents": len(events),
        "counts_s": round(counts, 2),
        "indexed_s": round(indexed, 2),
    }


def run() -> Iterator[dict[str, object]]:
    yield from asyncio.run(measure())
