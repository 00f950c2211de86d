from collections.abc import Awaitable, Callable, Mapping, Sequence

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.outbox import write_events
from cogni_domain.events import ConversationStarted, Event
from cogni_kernel import ConflictError, Err, HumanText, Ok, PrincipalId, Result, TenantId
from cogni_testing.assertions import err, ok
from cogni_testing.doubles import START

Events = Callable[[], Awaitable[Sequence[Mapping[str, object]]]]


def a_start(conversation: str) -> ConversationStarted:
    return ConversationStarted(TenantId("acme"), conversation, "intranet", PrincipalId("alice"))


def writing(*events: Event, result: Result[None]) -> Callable[[sa.Connection], Result[None]]:
    def write(connection: sa.Connection) -> Result[None]:
        write_events(connection, events, START)
        return result

    return write


async def test_an_event_is_written_once_however_often_it_happens(
    open_database: Callable[[], Database], events: Events
) -> None:
    for _ in range(2):
        written = writing(a_start("c1"), a_start("c2"), a_start("c1"), result=Ok(None))
        ok(await open_database().write(written))

    assert [event["conversation_ref"] for event in await events()] == ["c1", "c2"]


async def test_nothing_is_published_that_was_not_committed(
    open_database: Callable[[], Database], events: Events
) -> None:
    failed = writing(a_start("c1"), result=Err(ConflictError(HumanText("Too late."))))

    err(await open_database().write(failed), ConflictError)

    assert await events() == []
