import socket
from pathlib import Path

import pytest

from cogni_domain.jobs import Lane
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.queue import QueuePort
from cogni_embedded.bootstrap import build
from cogni_embedded.serving import address_of, prepare
from cogni_kernel import TenantId
from cogni_runtime.bindings import embedded, migrate
from cogni_runtime.container import RequiresRebuild, Swapped
from cogni_testing import HashEmbedder, ok


@pytest.mark.parametrize(
    ("family", "host", "reached_at"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "0.0.0.0", "127.0.0.1"),
        (socket.AF_INET6, "::1", "[::1]"),
        (socket.AF_INET6, "::", "[::1]"),
    ],
)
def test_this_machine_reaches_a_socket_at_its_own_address(
    family: socket.AddressFamily, host: str, reached_at: str
) -> None:
    with socket.socket(family) as listening:
        try:
            listening.bind((host, 0))
        except OSError:
            pytest.skip(f"no {host} here")
        port = listening.getsockname()[1]

        assert address_of(listening) == f"http://{reached_at}:{port}"


async def test_once_a_company_has_an_index_its_embedder_stays(tmp_path: Path) -> None:
    ok(migrate(tmp_path))
    product = build(embedded(tmp_path, {}))
    container = product.bindings.container
    before = container.swap(EmbedderPort, container.resolve(EmbedderPort))

    ok(await prepare(product, ()))

    acme, nobody = TenantId("acme"), TenantId("nobody")
    assert before == Swapped()
    assert isinstance(container.swap(EmbedderPort, HashEmbedder()), RequiresRebuild)
    assert isinstance(container.swap(EmbedderPort, HashEmbedder(), acme), RequiresRebuild)
    assert container.swap(EmbedderPort, HashEmbedder(), nobody) == Swapped()
    await product.bindings.close()


async def test_preparing_twice_changes_nothing(tmp_path: Path) -> None:
    ok(migrate(tmp_path))
    product = build(embedded(tmp_path, {}))
    container = product.bindings.container

    ok(await prepare(product, ()))
    corpora = ok(await container.resolve(DocumentStorePort).corpora(TenantId("acme")))
    waiting = ok(await container.resolve(QueuePort).depth(Lane.INDEXING))
    ok(await prepare(product, ()))

    assert ok(await container.resolve(DocumentStorePort).corpora(TenantId("acme"))) == corpora
    assert ok(await container.resolve(QueuePort).depth(Lane.INDEXING)) == waiting == 2
    await product.bindings.close()
