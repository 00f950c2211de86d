"""Real servers, each started once for the whole run; what cannot be had is reported as not run."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
import sqlalchemy as sa
from qdrant_client import AsyncQdrantClient

from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.schema import METADATA
from cogni_adapters.database.tables.work import outbox
from cogni_adapters.opensearch.client import OpenSearchClient
from cogni_kernel import Ok
from cogni_testing.assertions import ok
from tests.servers.dokuwiki import DokuWiki, dokuwiki
from tests.servers.opensearch import OpenSearchServer, opensearch
from tests.servers.postgresql import PostgreSql, postgresql
from tests.servers.process import UnavailableError

Server = TypeVar("Server")

MIGRATED, BESIDE = "migrated", "beside"

RAN = pytest.StashKey[list[str]]()
NOT_RUN = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.connected)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for text, servers in (
        ("real servers run", config.stash.get(RAN, [])),
        ("real servers NOT run", config.stash.get(NOT_RUN, [])),
    ):
        if servers:
            terminalreporter.write_line(f"{text}: {'; '.join(servers)}")


@contextmanager
def _reported(
    config: pytest.Config, name: str, starting: AbstractContextManager[Server], said: str
) -> Iterator[Server]:
    """Start a server and note it with its version; where it cannot be had, skip and note why."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(starting)
        except UnavailableError as error:
            _note(config, NOT_RUN, f"{name} ({error})")
            pytest.skip(f"{name} is not here: {error}")
        _note(config, RAN, str(getattr(server, said)))
        yield server


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[PostgreSql]:
    """PostgreSQL with pgvector, and two databases in it at the newest schema."""
    with _reported(pytestconfig, "PostgreSQL", postgresql(), "version") as running:
        for name in (MIGRATED, BESIDE):
            running.execute(f"CREATE DATABASE {name}")
            ok(migrate(running.url(name)))
        yield running


@pytest.fixture(scope="session")
def wiki_server(pytestconfig: pytest.Config) -> Iterator[DokuWiki]:
    """DokuWiki, with accounts and an access list in files."""
    with _reported(pytestconfig, "DokuWiki", dokuwiki(), "version") as running:
        yield running


@pytest.fixture
def wiki(wiki_server: DokuWiki) -> DokuWiki:
    """The wiki with no page and no account but ours, open to all."""
    wiki_server.clear()
    return wiki_server


@pytest.fixture
def postgres_url(server: PostgreSql) -> str:
    """A migrated database with nothing in it, for one test at a time."""
    return _emptied(server, MIGRATED)


@pytest.fixture
def url_beside(server: PostgreSql) -> str:
    """Another one like it."""
    return _emptied(server, BESIDE)


def _emptied(server: PostgreSql, name: str) -> str:
    server.empty(name, [table.name for table in METADATA.tables.values()])
    return server.url(name)


@pytest.fixture
async def open_database(postgres_url: str) -> AsyncIterator[Callable[..., Database]]:
    """Opens this test's database, or another; every call has connections and threads of its own."""
    opened: list[Database] = []

    def open_it(url: str = postgres_url) -> Database:
        opened.append(Database(url))
        return opened[-1]

    yield open_it
    for database in opened:
        await database.close()


@pytest.fixture
def events(
    open_database: Callable[[], Database],
) -> Callable[[], Awaitable[Sequence[Mapping[str, object]]]]:
    """Reads the payloads in this test's outbox, in order."""
    query = sa.select(outbox.c.payload).order_by(outbox.c.id)
    database = open_database()

    async def read() -> Sequence[Mapping[str, object]]:
        return ok(await database.read(lambda connection: Ok(list(connection.scalars(query)))))

    return read


@pytest.fixture(scope="session")
def engine(pytestconfig: pytest.Config) -> Iterator[OpenSearchServer]:
    """OpenSearch with its k-NN plugin."""
    with _reported(pytestconfig, "OpenSearch", opensearch(), "version") as running:
        yield running


_prefixes = map("test{}".format, count(1))


@pytest.fixture
async def opensearch_client(
    engine: OpenSearchServer,
) -> AsyncIterator[Callable[[], OpenSearchClient]]:
    """Opens clients whose indexes are their own; they are deleted after the test."""
    opened: list[OpenSearchClient] = []

    def open_it() -> OpenSearchClient:
        opened.append(OpenSearchClient(engine.url, next(_prefixes)))
        return opened[-1]

    yield open_it
    for client in opened:
        ok(await client.drop())
        await client.close()


@pytest.fixture
async def qdrant_client(pytestconfig: pytest.Config) -> AsyncIterator[AsyncQdrantClient]:
    """A client of the server that QDRANT_URL names, else one that is a store itself; collections go after the test."""
    url = os.environ.get("QDRANT_URL")
    client = AsyncQdrantClient(url=url) if url else AsyncQdrantClient(":memory:")
    if url:
        version = f"Qdrant {(await client.info()).version}"
        _note(pytestconfig, RAN, version)
    else:
        _note(pytestconfig, NOT_RUN, "Qdrant (QDRANT_URL names no server; its client's local mode)")
    yield client
    for collection in (await client.get_collections()).collections:
        if collection.name.startswith("test-"):
            await client.delete_collection(collection.name)
    await client.close()


def _note(config: pytest.Config, which: pytest.StashKey[list[str]], text: str) -> None:
    noted = config.stash.setdefault(which, [])
    if text not in noted:
        noted.append(text)
