"""A database that events are written to, and what takes them out of it."""

import base64
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.tables.events import component_leases, event_deliveries
from cogni_application.events.subscribing import SubscriptionService
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.events import Event
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions import ADMINISTER_EVENTS
from cogni_domain.subscriptions_endpoint import EndpointPolicy
from cogni_kernel import Ok, PrincipalId, Result, TenantId
from cogni_runtime.container import Container
from cogni_runtime.event_bindings import bind_events
from cogni_testing import SequentialIds, ok

ACME = TenantId("acme")
KEY = b"k" * 32


class Outside:
    """The ports of this process with this machine taken for the outside, and who writes and subscribes."""

    def __init__(self, url: str, clock: ClockPort) -> None:
        self.database = Database(url)
        self.clock = clock
        self.container = Container()
        self.close_connections = bind_events(
            self.container, self.database, KEY, EndpointPolicy(allow_loopback=True)
        )
        c = self.container
        self.deliveries = c.resolve(EventDeliveriesPort)
        self.service = SubscriptionService(
            c.resolve(EventSubscriptionsPort),
            self.deliveries,
            c.resolve(EventSecretsPort),
            c.resolve(EventSinkPort),
            clock,
            SequentialIds("s"),
            lambda: os.urandom(32),
        )

    def administrator(self, name: str) -> Principal:
        known = Memberships(frozenset(), MembershipState.KNOWN, 1)
        grants = frozenset({ADMINISTER_EVENTS.key})
        return Principal(PrincipalId(name), ACME, PrincipalKind.HUMAN, grants, known)

    async def subscribed(self, url: str, *types: str) -> tuple[str, str]:
        """Subscribe; return the id and the secret."""
        ada, bo = self.administrator("ada"), self.administrator("bo")
        found, secret = ok(await self.service.ask(ada, url, frozenset(types)))
        ok(await self.service.confirm(bo, found.id))
        assert secret is not None
        assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
        return found.id, secret

    async def write(self, events: Sequence[Event]) -> None:
        """Commit events."""

        def write(connection: sa.Connection) -> Result[None]:
            write_events(connection, events, self.clock.now())
            return Ok(None)

        ok(await self.database.write(write))

    async def waiting(self) -> int:
        """Return how many deliveries are not at their end."""
        count = sa.select(sa.func.count()).where(event_deliveries.c.state == "waiting")
        return ok(await self.database.read(lambda c: Ok(c.execute(count).scalar_one())))

    async def expire_leases(self) -> None:
        """Let the time pass that leases of a killed process have left."""
        held = sa.update(event_deliveries).where(event_deliveries.c.lease.is_not(None))
        relaying = sa.delete(component_leases)

        def expire(connection: sa.Connection) -> Result[None]:
            connection.execute(held.values(due_at=self.clock.now()))
            connection.execute(relaying)
            return Ok(None)

        ok(await self.database.write(expire))

    async def close(self) -> None:
        await self.close_connections()
        await self.database.close()


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A migrated database of this test's own."""
    found = f"sqlite:///{tmp_path}/cogni.db"
    ok(migrate(found))
    return found


@pytest.fixture
async def outside(url: str) -> AsyncIterator[Callable[[ClockPort], Outside]]:
    """Makes the ports over this test's database."""
    made: list[Outside] = []

    def make(clock: ClockPort) -> Outside:
        made.append(Outside(url, clock))
        return made[-1]

    yield make
    for each in made:
        await each.close()
