"""Reading a folder into both indexes, against the embedder alone on the same passages."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cogni_domain.jobs import Lane
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.queue import QueuePort
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.sources import HOME, FolderSource, request_folder
from cogni_kernel import CorpusId, DocumentId, Ok
from cogni_runtime.bindings import embedded, migrate

FILES = 1_250
SECTIONS = 8
WORDS = 110
BATCH = 256
LIMIT = 1.2
VOCABULARY = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "for",
    "that",
    "on",
    "with",
    "as",
    "be",
    "by",
    "at",
    "this",
    "from",
    "or",
    "an",
    "are",
    "was",
    "it",
    "not",
    "have",
    "has",
    "will",
    "can",
    "may",
    "team",
    "plan",
    "review",
    "request",
    "leave",
    "budget",
    "server",
    "release",
    "customer",
    "contract",
    "invoice",
    "policy",
    "meeting",
    "report",
    "deadline",
    "holiday",
    "travel",
    "expense",
    "laptop",
    "access",
    "project",
    "quarter",
    "figure",
    "office",
    "manager",
    "engineer",
    "support",
]


def write_files(folder: Path) -> None:
    rng = np.random.default_rng(11)
    for number in range(FILES):
        sections = [
            f"## Section {part}\n\n" + " ".join(rng.choice(VOCABULARY, WORDS)) + "."
            for part in range(SECTIONS)
        ]
        text = f"# Page {number}\n\n" + "\n\n".join(sections)
        (folder / f"page-{number:05}.md").write_text(text)


async def ingest(product: Product, folder: Path) -> float:
    await product.seed.plant(product.demo)
    await request_folder(product.indexing, product.seed, FolderSource(folder, "bench"))
    lane = product.lanes[Lane.INDEXING]
    started = time.perf_counter()
    workers = [asyncio.create_task(lane.work()) for _ in range(2)]
    while not await is_done(product):
        await asyncio.sleep(0.2)
    seconds = time.perf_counter() - started
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return seconds


async def is_done(product: Product) -> bool:
    """The source was read to its end, and no job waits or runs."""
    container = product.bindings.container
    corpora = await container.resolve(DocumentStorePort).corpora(HOME)
    assert isinstance(corpora, Ok)
    if any(c.indexed_through is None for c in corpora.value if c.id == CorpusId("bench")):
        return False
    depth = await container.resolve(QueuePort).depth(Lane.INDEXING)
    return isinstance(depth, Ok) and depth.value == 0


async def passages(product: Product) -> list[str]:
    documents = product.bindings.container.resolve(DocumentStorePort)
    found: list[str] = []
    after = ""
    while True:
        page = await documents.source_ids(HOME, CorpusId("bench"), after, 500)
        assert isinstance(page, Ok)
        for _, document in page.value:
            chunks = await documents.chunks_of(HOME, [DocumentId(str(document))])
            assert isinstance(chunks, Ok)
            found.extend(c.indexed_text for c in chunks.value)
        if len(page.value) < 500:
            return found
        after = page.value[-1][0]


async def alone(embedder: EmbedderPort, texts: list[str]) -> float:
    started = time.perf_counter()
    for at in range(0, len(texts), BATCH):
        await embedder.embed(texts[at : at + BATCH])
    return time.perf_counter() - started


async def measure() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        migrate(Path(data))
        product = build(embedded(Path(data), {}))
        embedder = product.bindings.container.resolve(EmbedderPort)
        await embedder.embed(["warm"])
        seconds = await ingest(product, Path(folder))
        texts = await passages(product)
        baseline = await alone(embedder, texts)
        await product.bindings.close()
    return {
        "files": FILES,
        "chunks": len(texts),
        "ingest_s": round(seconds, 1),
        "embedder_alone_s": round(baseline, 1),
        "ratio_embedder": round(seconds / baseline, 3),
        "ratio_limit": round(seconds / baseline / LIMIT, 3),
    }


def run() -> Iterator[dict[str, object]]:
    yield asyncio.run(measure())
