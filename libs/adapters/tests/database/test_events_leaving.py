from collections.abc import Callable, Sequence

import pytest
import sqlalchemy as sa

from cogni_adapters.database.audit import DatabaseAuditLogAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.outbox_deliveries import DatabaseEventDeliveriesAdapter
from cogni_adapters.database.outbox_relay import DatabaseEventOutboxAdapter
from cogni_adapters.database.subscriptions import DatabaseEventSubscriptionsAdapter
from cogni_adapters.database.tables.events import audit_entries, event_subscriptions
from cogni_domain.audit import AuditSeal, BrokenChain
from cogni_domain.events import Event
from cogni_domain.ports.audit_log import AuditLogPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_kernel import Ok, Result, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.audit_log import ACME, AuditLogContract, a_fact
from cogni_testing.contracts.event_deliveries import EventDeliveriesContract
from cogni_testing.contracts.event_outbox import EventOutboxContract
from cogni_testing.contracts.event_subscriptions import EventSubscriptionsContract, a_request, did
from cogni_testing.doubles import START

SEAL = AuditSeal(b"k" * 32)
Open = Callable[[], Database]


class OnThisDatabase:
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_log(self) -> AuditLogPort:
        return DatabaseAuditLogAdapter(self.open_database(), SEAL)

    async def make_subscriptions(self) -> EventSubscriptionsPort:
        return DatabaseEventSubscriptionsAdapter(self.open_database(), SEAL)

    async def make_deliveries(self) -> EventDeliveriesPort:
        return DatabaseEventDeliveriesAdapter(self.open_database(), SEAL)


class TestDatabaseAuditLog(OnThisDatabase, AuditLogContract):
    pass


class TestDatabaseEventSubscriptions(OnThisDatabase, EventSubscriptionsContract):
    pass


class TestDatabaseEventDeliveries(OnThisDatabase, EventDeliveriesContract):
    pass


class TestDatabaseEventOutbox(OnThisDatabase, EventOutboxContract):
    async def make_outbox(self) -> EventOutboxPort:
        return DatabaseEventOutboxAdapter(self.open_database())

    async def write(self, events: Sequence[Event]) -> None:
        def write(connection: sa.Connection) -> Result[None]:
            write_events(connection, events, START)
            return Ok(None)

        ok(await self.open_database().write(write))


async def changed(database: Database, *statements: str) -> Result[None]:
    def change(connection: sa.Connection) -> Result[None]:
        for statement in statements:
            connection.execute(sa.text(statement))
        return Ok(None)

    return await database.write(change)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit_entries SET actor = 'nobody'", "DELETE FROM audit_entries WHERE number = 2"],
)
async def test_entries_of_the_audit_log_cannot_be_changed(
    open_database: Open, statement: str
) -> None:
    database = open_database()
    log = DatabaseAuditLogAdapter(database, SEAL)
    for n in range(3):
        ok(await log.append(a_fact(f"s{n}")))

    err(await changed(database, statement), UpstreamError)

    assert len(ok(await log.entries(ACME))) == 3


TAMPERINGS = [
    ("UPDATE audit_entries SET actor = 'nobody' WHERE number = 2", 2),
    ("UPDATE audit_entries SET facts = '{}' WHERE number = 3", 3),
    ("DELETE FROM audit_entries WHERE number = 1", 1),
    ("DELETE FROM audit_entries WHERE number = 4", 4),
    ("UPDATE audit_entries SET digest = 'x' WHERE number = 5", 5),
    ("UPDATE audit_entries SET at = datetime(at, '+1 hour') WHERE number = 3", 3),
]


@pytest.mark.parametrize(("statement", "where"), TAMPERINGS)
async def test_what_goes_around_the_refusal_is_found_and_named(
    open_database: Open, statement: str, where: int
) -> None:
    database = open_database()
    log = DatabaseAuditLogAdapter(database, SEAL)
    for n in range(5):
        ok(await log.append(a_fact(f"s{n}")))

    drops = [f"DROP TRIGGER audit_entries_no_{change}" for change in ("update", "delete")]
    ok(await changed(database, *drops, statement))

    assert ok(await log.verify(ACME)) == BrokenChain(where)


async def test_a_chain_written_anew_without_the_key_is_found(open_database: Open) -> None:
    database = open_database()
    ok(await DatabaseAuditLogAdapter(database, AuditSeal(b"x" * 32)).append(a_fact("s1")))

    assert ok(await DatabaseAuditLogAdapter(database, SEAL).verify(ACME)) == BrokenChain(1)


async def test_a_change_that_cannot_be_audited_is_not_made(open_database: Open) -> None:
    database = open_database()
    store = DatabaseEventSubscriptionsAdapter(database, SEAL)
    full = "BEGIN SELECT RAISE(ABORT, 'no'); END"
    ok(await changed(database, f"CREATE TRIGGER stop BEFORE INSERT ON {audit_entries.name} {full}"))

    err(await store.ask(a_request("s1"), did("ada")), UpstreamError)

    count = sa.select(sa.func.count()).select_from(event_subscriptions)
    assert ok(await database.read(lambda c: Ok(c.execute(count).scalar_one()))) == 0
