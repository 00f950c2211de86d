"""Bringing the schema to this version, only when asked."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from cogni_adapters.database.engine import Database, described, open_engine
from cogni_kernel import ConflictError, Err, HumanText, Ok, Result


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


HEAD = str(ScriptDirectory.from_config(_config()).get_current_head())
"""The revision that this version of the product works with."""

LATER_SCHEMA = HumanText(
    "The database was made by a later version of the product. Run that version, or restore a backup."
)


def migrate(url: str) -> Result[str]:
    """Bring the database to `HEAD`, in one transaction; return the revision reached.

    Creates what is not there. A database that is there already is left as it is.

    Errors:
        ConflictError: The database is of a later version of the product.
        UpstreamError: The database did not answer; nothing changed.
    """
    config = _config()
    engine = open_engine(url)
    try:
        with engine.connect().execution_options(cogni_writes=True) as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except SQLAlchemyError as error:
        return Err(described(error))
    except CommandError as error:
        return Err(ConflictError(LATER_SCHEMA, detail={"error": str(error)}))
    finally:
        engine.dispose()
    return Ok(HEAD)


def revision(url: str) -> Result[str | None]:
    """Return the revision of the database, None where `migrate` never ran."""
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            return Ok(_revision(connection))
    except SQLAlchemyError as error:
        return Err(described(error))
    finally:
        engine.dispose()


async def refuse_other_schema(database: Database) -> Result[None]:
    """Return Ok where the database is at `HEAD`: what every service asks before it serves.

    Errors:
        ConflictError: It is at another revision; the message names the command to run.
        UpstreamError: The database did not answer.
    """

    def check(connection: sa.Connection) -> Result[None]:
        found = _revision(connection)
        return Ok(None) if found == HEAD else Err(_other_schema(found))

    return await database.read(check)


def _revision(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _other_schema(found: str | None) -> ConflictError:
    state = "has no schema yet" if found is None else f"has the schema {found}"
    return ConflictError(
        HumanText(f"The database {state}, this version needs {HEAD}. Run: cogni migrate")
    )
