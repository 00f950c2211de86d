from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogni_adapters.database.engine import Database
from cogni_adapters.database.prepared import fetch, fetch_one, inserting, write, write_many
from cogni_adapters.database.tables.runs import conversations
from cogni_kernel import Ok, Result, UpstreamError
from cogni_testing.assertions import err, ok

ONE = sa.select(conversations).where(conversations.c.id == sa.bindparam("of"))
ENDED = (
    sa.update(conversations)
    .where(conversations.c.id == sa.bindparam("of"))
    .values(ended_at=None, turn_count=conversations.c.turn_count + 1)
)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001
    lambda moment: moment.replace(tzinfo=UTC)
)
rows = st.fixed_dictionaries(
    {
        "id": st.text(min_size=1),
        "tenant_id": st.text(min_size=1),
        "owner": st.text(),
        "surface_id": st.text(),
        "title": st.text(st.characters()),
        "started_at": moments,
        "last_turn_at": moments,
        "turn_count": st.integers(0, 99),
        "handles_issued": st.integers(0, 99),
        "ended_at": st.none() | moments,
    }
)
once = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@once
@given(row=rows)
async def test_what_is_written_and_read_is_what_sqlalchemy_would_write_and_read(
    open_database: Callable[[], Database], row: dict[str, object]
) -> None:
    def work(connection: sa.Connection) -> Result[tuple[object, object]]:
        write(connection, inserting(conversations), row)
        ours = fetch_one(connection, ONE, of=row["id"])
        theirs = connection.execute(ONE, {"of": row["id"]}).one()
        connection.execute(sa.delete(conversations))
        return Ok((ours._asdict(), dict(theirs._mapping)))

    database = open_database()
    ours, theirs = ok(await database.write(work))
    await database.close()

    assert ours == theirs == row


@once
@given(given=st.lists(rows, min_size=2, max_size=4, unique_by=lambda row: row["id"]))
async def test_many_rows_are_written_at_once_and_counted(
    open_database: Callable[[], Database], given: list[dict[str, object]]
) -> None:
    def work(connection: sa.Connection) -> Result[tuple[int, int, list[object]]]:
        written = write_many(connection, inserting(conversations), given)
        changed = write_many(connection, ENDED, [{"of": row["id"]} for row in given])
        found = [r.ended_at for row in given for r in fetch(connection, ONE, of=row["id"])]
        connection.execute(sa.delete(conversations))
        return Ok((written, changed, found))

    database = open_database()
    count = len(given)

    assert ok(await database.write(work)) == (count, count, [None] * count)
    await database.close()


async def test_a_value_that_a_statement_asks_for_is_never_left_out(
    open_database: Callable[[], Database],
) -> None:
    with pytest.raises(KeyError, match="of"):
        await open_database().read(lambda connection: Ok(fetch(connection, ONE)))


async def test_what_the_driver_refuses_is_an_error_and_the_next_work_goes_well(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    missing = sa.select(sa.table("nowhere", sa.column("x")).c.x)

    err(await database.read(lambda connection: Ok(fetch(connection, missing))), UpstreamError)

    assert ok(await database.read(lambda connection: Ok(fetch(connection, ONE, of="a")))) == []
