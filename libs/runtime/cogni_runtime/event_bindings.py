"""Which adapters take events out of the house. With `bindings`, the only module that imports adapters."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

from cogni_domain.audit import AuditSeal
from cogni_domain.ports.audit_log import AuditLogPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions_endpoint import EndpointPolicy
from cogni_kernel import DefinitionError, HumanText
from cogni_runtime.container import Container

EVENT_PORTS: tuple[type, ...] = (
    AuditLogPort,
    EventDeliveriesPort,
    EventOutboxPort,
    EventSecretsPort,
    EventSinkPort,
    EventSubscriptionsPort,
)
KEY_BYTES = 32
KEY_FILE = "events.key"
NO_KEY = HumanText(
    f"{KEY_FILE} is missing from the data folder. Put it back from a backup; or run cogni migrate, which draws "
    "a new one: subscriptions then have to be asked for again."
)
TO_LOOPBACK = "COGNI_EVENTS_TO_LOOPBACK"
"""The setting of one process alone, for development: `1` lets events go to this machine, without TLS too."""


def bind_events(
    container: Container, database: object, master: bytes, policy: EndpointPolicy
) -> Callable[[], Awaitable[None]]:
    """Bind `EVENT_PORTS`; return what closes connections to endpoints.

    Args:
        database: The `Database` of the adapters.
        master: 32 bytes that are kept outside the database.

    Raises:
        DefinitionError: The key has another length.
    """
    from cogni_adapters.database.audit import DatabaseAuditLogAdapter
    from cogni_adapters.database.engine import Database
    from cogni_adapters.database.outbox_deliveries import DatabaseEventDeliveriesAdapter
    from cogni_adapters.database.outbox_relay import DatabaseEventOutboxAdapter
    from cogni_adapters.database.subscriptions import DatabaseEventSubscriptionsAdapter
    from cogni_adapters.webhook.sealing import AesGcmSecretsAdapter
    from cogni_adapters.webhook.sink import WebhookSinkAdapter

    assert isinstance(database, Database)
    if len(master) != KEY_BYTES:
        raise DefinitionError(f"the key of events has {KEY_BYTES} bytes")
    seal = AuditSeal(_derived(master, "audit log"))
    sink = WebhookSinkAdapter(policy)
    container.bind(AuditLogPort, DatabaseAuditLogAdapter(database, seal))
    container.bind(EventDeliveriesPort, DatabaseEventDeliveriesAdapter(database, seal))
    container.bind(EventOutboxPort, DatabaseEventOutboxAdapter(database))
    container.bind(EventSecretsPort, AesGcmSecretsAdapter(_derived(master, "webhook secrets")))
    container.bind(EventSinkPort, sink)
    container.bind(EventSubscriptionsPort, DatabaseEventSubscriptionsAdapter(database, seal))
    return sink.close


def event_key(data: Path) -> bytes | None:
    """Return the key of a data folder, None where none was drawn.

    Raises:
        DefinitionError: What is there is no key.
    """
    try:
        return bytes.fromhex((data / KEY_FILE).read_text().strip())
    except FileNotFoundError:
        return None
    except ValueError:
        raise DefinitionError(f"{data / KEY_FILE} holds no key") from None


def draw_event_key(data: Path) -> None:
    """Draw the key of a data folder that has none, readable by its owner alone."""
    try:
        handle = os.open(data / KEY_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_bytes(KEY_BYTES).hex())


def _derived(master: bytes, purpose: str) -> bytes:
    return hmac.new(master, purpose.encode(), hashlib.sha256).digest()
