"""Serving the embedded product over HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

from cogni_domain.ports.document_store import DocumentStorePort
from cogni_edge.http import EdgeServices, create_app
from cogni_embedded.bootstrap import Background, Product
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.sources import FolderSource, request_folder, request_intranet
from cogni_kernel import Err, Ok, Result

MAX_HEADERS = 32 * 1024
GRACE_S = 10


async def prepare(product: Product, folders: Sequence[FolderSource]) -> Result[None]:
    """Seed the demo company and ask for every ingest, its own and the named folders'."""
    planted = await product.seed.plant(product.demo)
    if isinstance(planted, Err):
        return planted
    for tenant in product.demo.intranets:
        asked = await request_intranet(product.indexing, tenant)
        if isinstance(asked, Err):
            return asked
    for folder in folders:
        asked = await request_folder(product.indexing, product.seed, folder)
        if isinstance(asked, Err):
            return asked
    return Ok(None)


async def not_ready(product: Product) -> str | None:
    """Return why a question could not be answered fully yet: a corpus was never read to its end."""
    documents = product.bindings.container.resolve(DocumentStorePort)
    for tenant in product.demo.intranets:
        corpora = await documents.corpora(tenant)
        if isinstance(corpora, Err):
            return str(corpora.error.message)
        if any(c.indexed_through is None for c in corpora.value):
            return f"Still reading documents: {product.watch.progress.seen} so far. Try again soon."
    return None


def serve(product: Product, folder: DataFolder, host: str, port: int) -> None:
    """Serve until told to stop; SIGTERM lets running answers end as Halted."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        background = Background(product)
        background.start()
        folder.announce(f"http://{host}:{port}")
        try:
            yield
        finally:
            await background.stop()

    async def ready() -> str | None:
        return await not_ready(product)

    services = EdgeServices(
        product.pipeline, product.turns, product.transcripts, product.proposals, ready
    )
    uvicorn.run(
        create_app(services, lifespan),
        host=host,
        port=port,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=MAX_HEADERS,
        timeout_graceful_shutdown=GRACE_S,
    )
