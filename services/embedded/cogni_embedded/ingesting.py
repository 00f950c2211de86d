"""Reading one folder into a corpus: in this process, or in the one that holds the data folder."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime

from cogni_application.indexing.ingest import Progress
from cogni_domain.jobs import Lane
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_embedded.bootstrap import Product
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.sources import HOME, FolderSource, request_folder
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

LOOK_S = 0.2
STALLED_S = 5.0

NOT_READ = HumanText(
    "The folder was not read to its end. The running product says why; mend that, then ingest again."
)

Show = Callable[[str], None]


async def ingest(
    product: Product, source: FolderSource, folder: DataFolder, show: Show
) -> Result[None]:
    """Read `source` to its end, and index it.

    The job is a row of the database, so where another process holds the data folder it is that one which works
    it off, while this one looks on; should it go away meanwhile, this one goes on itself.

    Errors:
        UpstreamError: It could not be read to its end.
        InvalidArgumentError: As of `request_folder`.
    """
    before = await _read_through(product, source)
    asked = await request_folder(product.indexing, product.seed, source)
    if isinstance(asked, Err):
        return asked
    product.watch.listener = lambda watch: show(watch.line())
    done = await work_off(product, folder, show)
    if isinstance(done, Err):
        return done
    if await _read_through(product, source) == before:
        return Err(product.watch.error or UpstreamError(NOT_READ))
    return Ok(None)


async def work_off(product: Product, folder: DataFolder, show: Show) -> Result[None]:
    """Wait until nothing is left to index: in this process, or in the one that holds the data folder.

    Errors:
        UpstreamError, …: What stopped it. The jobs stay, to be tried again by whoever works next.
    """
    queue, lane = product.bindings.container.resolve(QueuePort), product.lanes[Lane.INDEXING]
    stood, since, taken_over = (-1, Progress()), time.monotonic(), False
    while True:
        waiting = await queue.depth(Lane.INDEXING)
        if isinstance(waiting, Err):
            return waiting
        if not waiting.value:
            return Ok(None)
        held = folder.try_to_hold()
        if isinstance(held, Err):
            return held
        if held.value:
            if not taken_over:
                await product.bindings.take_over()
                taken_over = True
            await lane.work_off()
        else:
            show(f"The running product reads it: {waiting.value} steps to go")
        stands = (waiting.value, product.watch.progress)
        if stands != stood:
            stood, since = stands, time.monotonic()
        error = product.watch.error
        if error is not None and time.monotonic() - since > STALLED_S:
            return Err(error)
        await asyncio.sleep(LOOK_S)


async def gaps(product: Product, source: FolderSource) -> Result[list[Gap]]:
    """Return what was not indexed of the corpus that `source` feeds."""
    documents = product.bindings.container.resolve(DocumentStorePort)
    found = await documents.gaps(HOME, source.corpus_id)
    return found.map(list)


def gap_line(gap: Gap) -> str:
    """Return one entry of the gap list for a person."""
    return f"Not indexed: {gap.name} ({gap.reason}). {gap.explanation}"


async def _read_through(product: Product, source: FolderSource) -> Result[datetime | None]:
    """Return up to when the corpus was read, None where it never was."""
    documents = product.bindings.container.resolve(DocumentStorePort)
    found = await documents.corpora(HOME)
    return found.map(
        lambda corpora: next((c.indexed_through for c in corpora if c.id == source.corpus_id), None)
    )
