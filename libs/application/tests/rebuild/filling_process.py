"""Makes processes that work off the indexing lane: `filling_process.py FOLDER SECONDS_A_BATCH`.

For each line it forks one, prints that one's number, and prints how it ended: 0, or the signal that killed it.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.database.rebuilds import DatabaseRebuildStoreAdapter
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_adapters.system.clock import SystemClockAdapter
from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.intake import INDEX
from cogni_application.indexing.standing import RELABEL, REMOVE
from cogni_application.lanes import LaneWorker
from cogni_application.rebuild.filling import ShadowFiller
from cogni_application.rebuild.rebuild import FILL, PURGE
from cogni_application.rebuild.writing import DualWriter
from cogni_domain.jobs import Lane
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_kernel import Result
from cogni_testing import HashEmbedder, ok


class SlowEmbedder(HashEmbedder):
    """Takes its time over each call, so that there is a middle to be killed in."""

    def __init__(self, seconds: float) -> None:
        super().__init__(64)
        self.seconds = seconds

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        await asyncio.sleep(self.seconds)
        return await super().embed(texts)


@dataclass
class Stores:
    """The embedded stores over one folder."""

    database: Database
    documents: DatabaseDocumentStoreAdapter
    rebuilds: DatabaseRebuildStoreAdapter
    queue: DatabaseQueueAdapter
    keywords: TantivyKeywordSearchAdapter
    vectors: DatabaseVectorStoreAdapter

    @classmethod
    def of(cls, folder: Path) -> "Stores":
        """Open them."""
        database = Database(f"sqlite:///{folder / 'cogni.db'}")
        return cls(
            database,
            DatabaseDocumentStoreAdapter(database),
            DatabaseRebuildStoreAdapter(database),
            DatabaseQueueAdapter(database, SystemClockAdapter()),
            TantivyKeywordSearchAdapter(folder / "keywords"),
            DatabaseVectorStoreAdapter(database),
        )

    def writer(self, embedder: EmbedderPort) -> IndexWriter:
        """Return what writes both indexes with a model."""
        return IndexWriter(self.documents, self.keywords, self.vectors, embedder)

    def worker(self, embedder: EmbedderPort, *former: EmbedderPort) -> LaneWorker:
        """Return the indexing lane; new indexes are made with `embedder`."""
        writers = {each.version: self.writer(each) for each in (embedder, *former)}
        serving = self.writer(former[0] if former else embedder)
        dual = DualWriter(self.rebuilds, serving, writers)
        filler = ShadowFiller(
            self.rebuilds, writers[embedder.version], SystemClockAdapter(), batch=16
        )
        handlers = {
            REMOVE: dual.remove,
            RELABEL: dual.relabel,
            INDEX: dual.index,
            FILL: filler.fill,
            PURGE: filler.purge,
        }
        return LaneWorker(self.queue, Lane.INDEXING, handlers)

    async def close(self) -> None:
        """Let go of the folder."""
        await self.keywords.close()
        await self.database.close()


async def fill(folder: Path, seconds: float) -> None:
    """Take over what a killed process held, and work until nothing is left."""
    stores = Stores.of(folder)
    ok(await stores.queue.take_over())
    await stores.worker(SlowEmbedder(seconds)).work_off()
    await stores.close()


def fork(folder: Path, seconds: float) -> None:
    """Start a process, and say when and how it ends."""
    child = os.fork()
    if not child:
        asyncio.run(fill(folder, seconds))
        os._exit(0)
    sys.stdout.write(f"{child}\n")
    sys.stdout.flush()
    _, status = os.waitpid(child, 0)
    sys.stdout.write(f"{abs(os.waitstatus_to_exitcode(status))}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for _ in sys.stdin:
        fork(Path(sys.argv[1]), float(sys.argv[2]))
