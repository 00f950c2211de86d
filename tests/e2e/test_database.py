"""The database adapters keep their contracts on PostgreSQL as they do on SQLite."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.durable import DatabaseDurableAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import HEAD, migrate, revision
from cogni_adapters.database.profiles import DatabaseProfileStoreAdapter
from cogni_adapters.database.proposals import DatabaseProposalStoreAdapter
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_adapters.database.references import DatabaseReferenceStoreAdapter
from cogni_adapters.database.run_log import DatabaseRunLogAdapter
from cogni_adapters.database.schema import METADATA
from cogni_adapters.database.transcripts import DatabaseTranscriptStoreAdapter
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Lane
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.durable import DurablePort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_domain.ports.run_log import RunLogPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_engine import ReferenceStore
from cogni_testing.assertions import ok
from cogni_testing.contracts.access_rules import AccessRulesContract
from cogni_testing.contracts.directory import DirectoryContract
from cogni_testing.contracts.document_store import DocumentStoreContract
from cogni_testing.contracts.durable import DurableContract
from cogni_testing.contracts.profile_store import ProfileStoreContract
from cogni_testing.contracts.proposal_store import ProposalStoreContract
from cogni_testing.contracts.queue import QueueContract
from cogni_testing.contracts.reference_store import ReferenceStoreContract
from cogni_testing.contracts.run_log import RunLogContract
from cogni_testing.contracts.transcript_store import TranscriptStoreContract
from cogni_testing.contracts.vector_store import VectorStoreContract
from cogni_testing.doubles import FrozenClock

STEPS = {PROPOSAL_EXPIRE: "expire", PROPOSAL_EXECUTE: "execute"}

Open = Callable[[], Database]
Events = Callable[[], Awaitable[Sequence[Mapping[str, object]]]]


class OnPostgreSql:
    """Every adapter is given connections of its own to one database."""

    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open, events: Events) -> None:
        self.open_database = open_database
        self._events = events

    async def events(self) -> Sequence[Mapping[str, object]]:
        return await self._events()

    async def make_store(self) -> DocumentStorePort:
        return DatabaseDocumentStoreAdapter(self.open_database())

    async def make_rules(self) -> AccessRulesPort:
        return DatabaseAccessRulesAdapter(self.open_database())

    async def make_run_log(self) -> RunLogPort:
        return DatabaseRunLogAdapter(self.open_database())

    async def make_proposal_store(self) -> ProposalStorePort:
        return DatabaseProposalStoreAdapter(self.open_database())

    async def make_queue(self, clock: FrozenClock | None = None) -> QueuePort:
        return DatabaseQueueAdapter(self.open_database(), clock or FrozenClock())


class TestDocumentStore(OnPostgreSql, DocumentStoreContract):
    pass


class TestAccessRules(OnPostgreSql, AccessRulesContract):
    pass


class TestQueue(OnPostgreSql, QueueContract):
    pass


class TestRunLog(OnPostgreSql, RunLogContract):
    pass


class TestProposalStore(OnPostgreSql, ProposalStoreContract):
    pass


class TestTranscriptStore(OnPostgreSql, TranscriptStoreContract):
    async def make_transcript_store(self, clock: ClockPort) -> TranscriptStorePort:
        return DatabaseTranscriptStoreAdapter(self.open_database(), clock)


class TestDirectory(OnPostgreSql, DirectoryContract):
    async def make_directory(self) -> DirectoryPort:
        return DatabaseDirectoryAdapter(self.open_database())


class TestProfileStore(OnPostgreSql, ProfileStoreContract):
    async def make_profile_store(self, clock: ClockPort) -> ProfileStorePort:
        return DatabaseProfileStoreAdapter(self.open_database(), clock)


class TestReferenceStore(OnPostgreSql, ReferenceStoreContract):
    async def make_reference_store(self) -> ReferenceStore:
        return DatabaseReferenceStoreAdapter(self.open_database())


class TestDurable(OnPostgreSql, DurableContract):
    @pytest.fixture(autouse=True)
    def _clock(self) -> None:
        self.clock = FrozenClock()

    async def make_durable(self) -> DurablePort:
        return DatabaseDurableAdapter(DatabaseQueueAdapter(self.open_database(), self.clock))

    async def called(self, until: datetime) -> Sequence[tuple[str, str]]:
        queue = DatabaseQueueAdapter(self.open_database(), self.clock)
        self.clock.advance(until - self.clock.now())
        found = []
        while taken := ok(await queue.dequeue(Lane.CONVERSATIONAL, timedelta(1))):
            found += [(STEPS[t.job.kind], t.job.payload["proposal_id"]) for t in taken]
            assert ok(await queue.complete(taken)) == 1
        return found


class TestVectorRows(VectorStoreContract):
    """The exact scan over rows, on PostgreSQL."""

    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_store(self) -> VectorStorePort:
        return DatabaseVectorStoreAdapter(self.open_database())


def test_the_migrated_schema_is_the_schema_of_the_tables(postgres_url: str) -> None:
    engine = sa.create_engine(postgres_url)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
    engine.dispose()

    assert differences == []


def test_migrating_again_changes_nothing(postgres_url: str) -> None:
    assert ok(revision(postgres_url)) == HEAD

    assert ok(migrate(postgres_url)) == HEAD
