"""Events, written in the transaction of what caused them; a relay publishes them afterwards."""

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa

from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.tables.work import outbox
from cogni_domain.events import Event, event_payload, idempotency_key


def write_events(connection: sa.Connection, events: Iterable[Event], at: datetime) -> None:
    """Write each event once, however often it is written: its idempotency key decides."""
    for event in events:
        row = {
            "key": idempotency_key(event),
            "tenant_id": event.tenant_id.value,
            "payload": event_payload(event),
            "happened_at": at,
        }
        insert_if_new(connection, outbox, row)
