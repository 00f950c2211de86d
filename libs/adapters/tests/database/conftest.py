"""A migrated SQLite file for each test, opened as often as a test has processes."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.tables.work import outbox
from cogni_kernel import Ok
from cogni_testing.assertions import ok


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file at the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "cogni.db"
    ok(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture
def database_url(migrated: Path, tmp_path: Path) -> str:
    """A database of this test's own, with nothing in it."""
    path = tmp_path / "cogni.db"
    shutil.copy(migrated, path)
    return f"sqlite:///{path}"


@pytest.fixture
async def open_database(database_url: str) -> AsyncIterator[Callable[[], Database]]:
    """Opens this test's database; every call has connections and threads of its own."""
    opened: list[Database] = []

    def open_it() -> Database:
        opened.append(Database(database_url))
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


@pytest.fixture
def fill_disk() -> Callable[[Database], Callable[[], None]]:
    """Lets a database's file grow no further, by SQLite's own limit, until what it returns is called."""

    def fill(database: Database) -> Callable[[], None]:
        pages = [1]

        def limit(connection: sa.Connection) -> None:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.execute(f"PRAGMA max_page_count={pages[0]}").close()

        event.listen(database.engine, "begin", limit)
        return lambda: pages.__setitem__(0, 1_000_000)

    return fill
