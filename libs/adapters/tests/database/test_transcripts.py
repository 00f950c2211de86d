from collections.abc import Awaitable, Callable, Mapping, Sequence

import pytest
import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.run_log import DatabaseRunLogAdapter
from cogni_adapters.database.tables.runs import transcript_reads
from cogni_adapters.database.transcripts import DatabaseTranscriptStoreAdapter
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.run_log import RunLogPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_kernel import Ok, Result, RunRef, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.runs import an_opening, open_run
from cogni_testing.contracts.transcript_store import AUDITOR, REASON, TranscriptStoreContract
from cogni_testing.doubles import FrozenClock


class TestDatabaseTranscriptStore(TranscriptStoreContract):
    @pytest.fixture(autouse=True)
    def _open(
        self,
        open_database: Callable[[], Database],
        events: Callable[[], Awaitable[Sequence[Mapping[str, object]]]],
    ) -> None:
        self.open_database = open_database
        self.read_events = events

    async def make_run_log(self) -> RunLogPort:
        return DatabaseRunLogAdapter(self.open_database())

    async def make_transcript_store(self, clock: ClockPort) -> TranscriptStorePort:
        return DatabaseTranscriptStoreAdapter(self.open_database(), clock)

    async def events(self) -> Sequence[Mapping[str, object]]:
        return await self.read_events()


async def test_a_read_that_cannot_be_recorded_shows_nothing(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    ok(await open_run(DatabaseRunLogAdapter(database), an_opening()))

    def refuse_reads(connection: sa.Connection) -> Result[None]:
        connection.execute(sa.text("DROP TABLE transcript_reads"))
        return Ok(None)

    ok(await database.write(refuse_reads))
    store = DatabaseTranscriptStoreAdapter(database, FrozenClock())

    err(await store.read(RunRef("r1"), AUDITOR, REASON), UpstreamError)


async def test_a_read_that_breaks_is_not_recorded(open_database: Callable[[], Database]) -> None:
    database = open_database()
    ok(await open_run(DatabaseRunLogAdapter(database), an_opening()))

    def break_steps(connection: sa.Connection) -> Result[None]:
        connection.execute(sa.text("DROP TABLE run_steps"))
        return Ok(None)

    ok(await database.write(break_steps))
    store = DatabaseTranscriptStoreAdapter(database, FrozenClock())

    err(await store.read(RunRef("r1"), AUDITOR, REASON), UpstreamError)

    count = sa.select(sa.func.count()).select_from(transcript_reads)
    assert ok(await database.read(lambda connection: Ok(connection.scalar(count)))) == 0
