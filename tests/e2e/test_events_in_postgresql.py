"""What takes events out of the house keeps its contracts on PostgreSQL as it does on SQLite."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
import sqlalchemy as sa

from cogni_adapters.database.audit import DatabaseAuditLogAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.outbox_deliveries import DatabaseEventDeliveriesAdapter
from cogni_adapters.database.outbox_relay import DatabaseEventOutboxAdapter
from cogni_adapters.database.subscriptions import DatabaseEventSubscriptionsAdapter
from cogni_domain.audit import AuditSeal
from cogni_domain.events import Event
from cogni_domain.ports.audit_log import AuditLogPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_kernel import Ok, Result, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.audit_log import ACME, AuditLogContract, a_fact
from cogni_testing.contracts.event_deliveries import LEASE, EventDeliveriesContract, a_delivery
from cogni_testing.contracts.event_outbox import EventOutboxContract
from cogni_testing.contracts.event_subscriptions import EventSubscriptionsContract, a_request, did
from cogni_testing.doubles import START

SEAL = AuditSeal(b"k" * 32)
Open = Callable[[], Database]


class OnPostgreSql:
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Open) -> None:
        self.open_database = open_database

    async def make_log(self) -> AuditLogPort:
        return DatabaseAuditLogAdapter(self.open_database(), SEAL)

    async def make_subscriptions(self) -> EventSubscriptionsPort:
        return DatabaseEventSubscriptionsAdapter(self.open_database(), SEAL)

    async def make_deliveries(self) -> EventDeliveriesPort:
        return DatabaseEventDeliveriesAdapter(self.open_database(), SEAL)


class TestAuditLog(OnPostgreSql, AuditLogContract):
    pass


class TestEventSubscriptions(OnPostgreSql, EventSubscriptionsContract):
    pass


class TestEventDeliveries(OnPostgreSql, EventDeliveriesContract):
    pass


class TestEventOutbox(OnPostgreSql, EventOutboxContract):
    async def make_outbox(self) -> EventOutboxPort:
        return DatabaseEventOutboxAdapter(self.open_database())

    async def write(self, events: Sequence[Event]) -> None:
        def write(connection: sa.Connection) -> Result[None]:
            write_events(connection, events, START)
            return Ok(None)

        ok(await self.open_database().write(write))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entries SET actor = 'nobody'",
        "DELETE FROM audit_entries",
        "TRUNCATE audit_entries",
    ],
)
async def test_entries_of_the_audit_log_cannot_be_changed(
    open_database: Open, statement: str
) -> None:
    database = open_database()
    log = DatabaseAuditLogAdapter(database, SEAL)
    ok(await log.append(a_fact("s1")))

    def change(connection: sa.Connection) -> Result[None]:
        connection.execute(sa.text(statement))
        return Ok(None)

    err(await database.write(change), UpstreamError)

    assert len(ok(await log.entries(ACME))) == 1


async def test_workers_that_take_at_once_share_the_limit_of_a_subscription(
    open_database: Open,
) -> None:
    store = DatabaseEventSubscriptionsAdapter(open_database(), SEAL)
    for identity in ("s1", "s2"):
        ok(await store.ask(a_request(identity), did("ada")))
        ok(await store.confirm(identity, did("bo")))
    workers = [DatabaseEventDeliveriesAdapter(open_database(), SEAL) for _ in range(6)]
    new = [a_delivery(identity, n) for n in range(40) for identity in ("s1", "s2")]
    ok(await workers[0].add(new, START))

    for _ in range(5):
        taken = await asyncio.gather(*(w.take(START, LEASE, 4) for w in workers))

    held = [h.delivery.subscription_id for each in taken for h in ok(each)]
    assert held == []
    everything = sa.text(
        "SELECT subscription_id, count(*) FROM event_deliveries "
        "WHERE lease IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    found = ok(await open_database().read(lambda c: Ok([tuple(r) for r in c.execute(everything)])))
    assert found == [("s1", 4), ("s2", 4)]
