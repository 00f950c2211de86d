"""Serving the embedded product over HTTP."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from cogni_application.gaps import GapService
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.model import ModelPort
from cogni_edge.http import EdgeServices, create_app
from cogni_edge.server import EdgeServer
from cogni_edge.surface import SurfaceServices
from cogni_embedded.background import Background
from cogni_embedded.bootstrap import Product
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.following import Following
from cogni_embedded.host_pages import host_pages
from cogni_embedded.ingest_watch import IngestWatch
from cogni_embedded.readiness import Admission, Readiness
from cogni_embedded.sources import FolderSource, request_folder, request_intranet
from cogni_kernel import Err, Ok, Result
from cogni_surfaces import SurfaceRegistry

LOOK_S = 0.2
SAY_S = 2.0

Say = Callable[[str], None]


async def prepare(
    product: Product, folders: Sequence[FolderSource], host_port: int | None = None
) -> Result[None]:
    """Seed the demo company and ask for every ingest, its own and the named folders'.

    This process holds the data folder, so what others had in hand is taken over at once.

    Args:
        host_port: Where the demo host page is served, if it is.
    """
    taken = await product.bindings.take_over()
    if isinstance(taken, Err):
        return taken
    planted = await product.seed.plant(product.demo, host_port)
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
    return await _note_indexes(product)


async def _note_indexes(product: Product) -> Result[None]:
    """Tell the container which tenants have an index by now, so that nobody swaps its model."""
    container = product.bindings.container
    for tenant in product.demo.intranets:
        corpora = await container.resolve(DocumentStorePort).corpora(tenant)
        if isinstance(corpora, Err):
            return corpora
        if corpora.value:
            container.note_index(tenant)
    return Ok(None)


def serve(product: Product, folder: DataFolder, listening: socket.socket, say: Say) -> None:
    """Serve until told to stop; running answers then end as Halted. `say` is told how the first reading goes."""
    background, following = Background(product), Following(product)
    readiness = Readiness(product)
    container = product.bindings.container
    admission = Admission(container.resolve(ModelPort), container.resolve(ClockPort))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await following.start()
        background.start()
        address = address_of(listening)
        folder.announce(address)
        async with host_pages(product, address, listening, say):
            saying = asyncio.create_task(_say_progress(readiness, product.watch, say))
            try:
                yield
            finally:
                saying.cancel()
                await following.stop()
                await background.stop()

    services = edge_services(product, admission.admits, readiness.why_not)
    server = EdgeServer(create_app(services, lifespan), background.drain)
    asyncio.run(server.serve([listening]))


def edge_services(
    product: Product,
    admits: Callable[[], Result[None]],
    ready: Callable[[], Awaitable[str | None]],
) -> EdgeServices:
    """Return what the rim calls of a product."""
    container = product.bindings.container
    surfaces = SurfaceServices(
        SurfaceRegistry(container.resolve(DirectoryPort), words=product.demo.words),
        product.transcripts,
        product.widgets,
        product.feedback,
        product.attachments,
        product.subjects,
    )
    return EdgeServices(
        product.pipeline,
        product.turns,
        product.transcripts,
        product.proposals,
        admits,
        ready,
        surfaces,
        product.leaving.subscriptions,
        gaps=GapService(container.resolve(DocumentStorePort)),
    )


async def _say_progress(readiness: Readiness, watch: IngestWatch, say: Say) -> None:
    """Say how far the first reading is every now and then, what goes wrong, and when all can be asked."""

    def complain(watched: IngestWatch) -> None:
        if watched.error is not None:
            say(f"Not read to its end: {watched.error.message}")

    watch.listener = complain
    loop = asyncio.get_running_loop()
    next_at = loop.time() + SAY_S
    while (why_not := await readiness.why_not()) is not None:
        if loop.time() >= next_at:
            say(why_not)
            next_at += SAY_S
        await asyncio.sleep(LOOK_S)
    say(f"Ready. {watch.line()}.")


def address_of(listening: socket.socket) -> str:
    """Return where this machine reaches a listening socket."""
    host, port = listening.getsockname()[:2]
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        address = ipaddress.ip_address("::1" if address.version == 6 else "127.0.0.1")
    return f"http://[{address}]:{port}" if address.version == 6 else f"http://{address}:{port}"
