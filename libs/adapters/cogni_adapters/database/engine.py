"""One way to the database for both dialects: synchronous work in worker threads."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError

from cogni_adapters.database.workers import Workers
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

T = TypeVar("T")
READERS = 4

UNAVAILABLE = HumanText("The product's own database did not answer. Please try again in a minute.")
DISK_FULL = HumanText("The disk is full: nothing was saved. Free some space, then try again.")


class Database:
    """Reads on a few threads; writes on one, so that SQLite never waits for itself.

    Work is given as a function of a connection that returns a `Result`; an Err rolls a write back. Whatever the
    database itself raises becomes an UpstreamError here. Each thread keeps its connection: to fetch one for every
    piece of work would cost more than most of the work does.

    Args:
        url: An SQLAlchemy URL, `sqlite:////data/cogni.db`.
    """

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        snapshot = {"isolation_level": "REPEATABLE READ"}
        self._reading = {} if self.engine.dialect.name == "sqlite" else snapshot
        self._readers = Workers(READERS, "database-read")
        self._writer = Workers(1, "database-write")
        self._failures = (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error)
        self._kept = _Kept(self.engine)

    async def read(self, work: Callable[[sa.Connection], Result[T]]) -> Result[T]:
        """Run `work` in one consistent snapshot."""
        return await self._readers.run(lambda: self._read(work))

    async def write(
        self,
        work: Callable[[sa.Connection], Result[T]],
        then: Callable[[T], None] | None = None,
    ) -> Result[T]:
        """Run `work` in one transaction: committed for Ok, rolled back for Err.

        `then` is called with the value once it is committed, before any other write begins, and even if
        the caller is cancelled meanwhile.
        """
        return await self._writer.run(lambda: self._write(work, then))

    def _read(self, work: Callable[[sa.Connection], Result[T]]) -> Result[T]:
        try:
            connection = self._kept.begun(**self._reading)
            try:
                return work(connection)
            finally:
                connection.rollback()
        except self._failures as error:
            self._kept.let_go()
            return Err(described(error))

    def _write(
        self,
        work: Callable[[sa.Connection], Result[T]],
        then: Callable[[T], None] | None,
    ) -> Result[T]:
        try:
            connection = self._kept.begun(cogni_writes=True)
            try:
                result = work(connection)
                if isinstance(result, Ok):
                    connection.commit()
            finally:
                connection.rollback()
        except self._failures as error:
            self._kept.let_go()
            return Err(described(error))
        if then is not None and isinstance(result, Ok):
            then(result.value)
        return result

    async def close(self) -> None:
        """Let running work end, then disconnect."""
        await asyncio.to_thread(self._readers.close)
        await asyncio.to_thread(self._writer.close)
        self._kept.close()
        self.engine.dispose()


class _Kept:
    """A connection for each thread, fetched anew by all of them after one has failed: its server may have gone."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._own = threading.local()
        self._open: list[sa.Connection] = []
        self._age = 0

    def begun(self, **options: object) -> sa.Connection:
        """Return this thread's connection, in a new transaction."""
        connection: sa.Connection | None = getattr(self._own, "connection", None)
        if connection is not None and self._own.age != self._age:
            self._close(connection)
            connection = None
        if connection is None:
            age = self._age
            connection = self._engine.connect().execution_options(**options)
            self._own.connection, self._own.age = connection, age
            self._open.append(connection)
        connection.begin()
        return connection

    def let_go(self) -> None:
        """Return every connection to the engine, which closes those that are dead."""
        self._age += 1

    def close(self) -> None:
        """Return them all at once; nobody works any more."""
        for connection in tuple(self._open):
            self._close(connection)

    def _close(self, connection: sa.Connection) -> None:
        self._open.remove(connection)
        connection.close()


def open_engine(url: str) -> sa.Engine:
    """Return an engine whose connections behave alike in both dialects.

    A connection with the execution option `cogni_writes` takes SQLite's one write lock when it begins.
    """
    engine = sa.create_engine(url, pool_size=READERS + 1, max_overflow=0)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def described(error: Exception) -> UpstreamError:
    """Return what a person is told of a database error; the error itself goes into the detail."""
    full = "disk is full" in str(error) or "No space left" in str(error)
    return UpstreamError(DISK_FULL if full else UNAVAILABLE, detail={"error": repr(error)[:500]})


def _configure_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        "busy_timeout=5000",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("cogni_writes", False)
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN").close()
