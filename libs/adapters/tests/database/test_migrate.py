from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

import cogni_adapters.database.tables  # noqa: F401 - fills METADATA
from cogni_adapters.database import migrations
from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.engine import Database, open_engine
from cogni_adapters.database.migrate import HEAD, migrate, refuse_other_schema, revision
from cogni_adapters.database.schema import METADATA
from cogni_domain.access.directory import Tenant
from cogni_kernel import ConflictError, Result, TenantId, UpstreamError
from cogni_testing.assertions import err, ok


def statements(url: str) -> dict[str, str]:
    engine = open_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE sql > ''"))
        found = {str(row.name): str(row.sql) for row in rows}
    engine.dispose()
    return found


def test_the_migrated_schema_is_the_schema_of_the_tables(database_url: str) -> None:
    engine = open_engine(database_url)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
    engine.dispose()

    assert differences == []


def test_the_migrated_tables_are_stored_like_the_declared_ones(database_url: str) -> None:
    wanted = {
        table.name
        for table in METADATA.tables.values()
        if not table.dialect_options["sqlite"]["with_rowid"]
    }

    created = statements(database_url)

    assert {name for name, sql in created.items() if "WITHOUT ROWID" in sql} == wanted


def test_a_new_database_is_brought_to_the_head(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new.db"
    assert ok(revision(url)) is None

    assert ok(migrate(url)) == HEAD

    assert ok(revision(url)) == HEAD


def test_a_database_at_the_head_is_left_as_it_is(database_url: str) -> None:
    before = statements(database_url)

    assert ok(migrate(database_url)) == HEAD

    assert statements(database_url) == before


def test_a_later_migration_that_fails_takes_back_the_earlier_ones(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/mine.db"
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE jobs (mine INTEGER)"))
    engine.dispose()
    before = statements(url)

    err(migrate(url), UpstreamError)

    assert statements(url) == before
    assert ok(revision(url)) is None


async def test_the_head_is_served(open_database: Callable[[], Database]) -> None:
    ok(await refuse_other_schema(open_database()))


async def test_a_database_without_a_schema_is_not_served(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/new.db")

    refusal = err(await refuse_other_schema(database), ConflictError)
    await database.close()

    assert "cogni migrate" in str(refusal.message)


async def test_an_earlier_schema_is_not_served_until_it_is_migrated_and_keeps_its_rows(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/earlier.db"
    upgrade_to("0002", url)
    engine = open_engine(url)
    with engine.connect().execution_options(cogni_writes=True) as connection, connection.begin():
        tenant = "INSERT INTO tenants (id, name, enabled) VALUES ('acme', 'Acme', 1)"
        connection.execute(sa.text(tenant))
    engine.dispose()
    database = Database(url)

    refusal = err(await refuse_other_schema(database), ConflictError)
    assert "0002" in str(refusal.message)
    assert "cogni migrate" in str(refusal.message)

    assert ok(migrate(url)) == HEAD
    ok(await refuse_other_schema(database))
    found = ok(await DatabaseDirectoryAdapter(database).tenant(TenantId("acme")))
    await database.close()
    assert found == Tenant(TenantId("acme"), "Acme")


def upgrade_to(target: str, url: str) -> None:
    config, engine = Config(), open_engine(url)
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.connect().execution_options(cogni_writes=True) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, target)
    engine.dispose()


@pytest.fixture
def later_url(database_url: str) -> str:
    engine = open_engine(database_url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    return database_url


async def test_a_later_schema_is_not_served_and_not_touched(later_url: str) -> None:
    database = Database(later_url)
    before = statements(later_url)

    refusal = err(await refuse_other_schema(database), ConflictError)
    await database.close()
    err(migrate(later_url), ConflictError)

    assert "9999" in str(refusal.message)
    assert statements(later_url) == before
    assert ok(revision(later_url)) == "9999"


@pytest.mark.parametrize("ask", [migrate, revision])
def test_a_database_that_cannot_be_opened_is_told(
    tmp_path: Path, ask: Callable[[str], Result[object]]
) -> None:
    found = ask(f"sqlite:///{tmp_path}/no/such/folder/cogni.db")

    err(found, UpstreamError)
