"""A house whose events leave it: real rows in SQLite, an endpoint that answers as a test says, time that stands."""

import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from cogni_adapters.database.audit import DatabaseAuditLogAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.outbox_deliveries import DatabaseEventDeliveriesAdapter
from cogni_adapters.database.outbox_relay import DatabaseEventOutboxAdapter
from cogni_adapters.database.subscriptions import DatabaseEventSubscriptionsAdapter
from cogni_adapters.webhook.sealing import AesGcmSecretsAdapter
from cogni_application.events.delivering import DeliveryWorker
from cogni_application.events.fan_out import FanOut
from cogni_application.events.relay import OutboxRelay, Publish
from cogni_application.events.subscribing import SubscriptionService
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.audit import AuditSeal
from cogni_domain.events import Event
from cogni_domain.events_outgoing import Delivered, DeliveryOutcome, WebhookMessage
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.subscriptions import ADMINISTER_EVENTS
from cogni_domain.subscriptions_endpoint import Endpoint, EndpointPolicy
from cogni_kernel import GrantKey, Ok, PrincipalId, Result, TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import FrozenClock, SequentialIds

ACME = TenantId("acme")


def a_principal(
    name: str,
    *grants: GrantKey,
    tenant: TenantId | None = ACME,
    kind: PrincipalKind = PrincipalKind.HUMAN,
    on_behalf_of: Principal | None = None,
) -> Principal:
    """Return somebody of acme's."""
    known = Memberships(frozenset(), MembershipState.KNOWN, 1)
    return Principal(
        PrincipalId(name), tenant, kind, frozenset(grants), known, on_behalf_of=on_behalf_of
    )


@dataclass
class ScriptedSink(EventSinkPort):
    """Answers as `outcome` says; keeps what it was given."""

    outcome: Callable[[Endpoint, WebhookMessage], DeliveryOutcome] = lambda _, __: Delivered(200)
    sent: list[tuple[str, WebhookMessage]] = field(default_factory=list)

    def why_not(self, endpoint: Endpoint) -> str | None:
        return EndpointPolicy().why_not(endpoint)

    async def deliver(self, endpoint: Endpoint, message: WebhookMessage) -> DeliveryOutcome:
        self.sent.append((endpoint.host, message))
        return self.outcome(endpoint, message)


class House:
    """Everything that an event passes, over one database."""

    def __init__(self, database: Database) -> None:
        seal = AuditSeal(b"k" * 32)
        self.database = database
        self.clock = FrozenClock()
        self.sink = ScriptedSink()
        self.secrets = AesGcmSecretsAdapter(b"s" * 32)
        self.outbox = DatabaseEventOutboxAdapter(database)
        self.subscriptions = DatabaseEventSubscriptionsAdapter(database, seal)
        self.deliveries = DatabaseEventDeliveriesAdapter(database, seal)
        self.log = DatabaseAuditLogAdapter(database, seal)
        self.fan_out = FanOut(self.subscriptions, self.deliveries, self.clock)
        self.ada = a_principal("ada", ADMINISTER_EVENTS.key)
        self.bo = a_principal("bo", ADMINISTER_EVENTS.key)
        drawn = SequentialIds("a secret of 32 bytes, number")
        self.service = SubscriptionService(
            self.subscriptions,
            self.deliveries,
            self.secrets,
            self.sink,
            self.clock,
            SequentialIds("s"),
            lambda: drawn().encode().ljust(32, b"."),
        )

    def relay(self, publish: Publish | None = None, owner: str = "a") -> OutboxRelay:
        return OutboxRelay(self.outbox, publish or self.fan_out.publish, self.clock, owner)

    def worker(self, sink: EventSinkPort | None = None) -> DeliveryWorker:
        return DeliveryWorker(
            self.deliveries, self.secrets, sink or self.sink, self.clock, lambda: 0.5
        )

    async def write(self, *events: Event) -> None:
        """Commit events with what caused them."""

        def write(connection: sa.Connection) -> Result[None]:
            write_events(connection, events, self.clock.now())
            return Ok(None)

        ok(await self.database.write(write))

    async def subscribed(self, host: str, *types: str) -> tuple[str, str]:
        """Have ada ask and bo confirm; return the subscription's id and its secret."""
        found, secret = ok(await self.service.ask(self.ada, f"https://{host}/", frozenset(types)))
        ok(await self.service.confirm(self.bo, found.id))
        assert secret is not None
        return found.id, secret


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file at the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("events") / "cogni.db"
    ok(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture
async def house(migrated_database: Path, tmp_path: Path) -> AsyncIterator[House]:
    """A house of this test's own."""
    shutil.copy(migrated_database, tmp_path / "cogni.db")
    database = Database(f"sqlite:///{tmp_path}/cogni.db")
    yield House(database)
    await database.close()


@pytest.fixture
def principal() -> Callable[..., Principal]:
    """Makes somebody of acme's."""
    return a_principal
