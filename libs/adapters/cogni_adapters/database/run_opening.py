"""The beginning of a run: its row, its conversation, and the event of a new one."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.prepared import fetch_one
from cogni_adapters.database.schema import AnyText
from cogni_adapters.database.tables.runs import conversations, runs
from cogni_domain.events import ConversationStarted, Event
from cogni_domain.ports.run_log import Opened
from cogni_domain.run_record import RunOpening
from cogni_engine import OfferedTool
from cogni_kernel import ConflictError, Err, HumanText, NotFoundError, Ok, Result, RunRef

FIRST_EPOCH = 1
NO_EPOCH = 0
"""Proves nothing: for whoever asks again for a run that somebody owns."""

MAX_TITLE = 80

NO_SUCH_RUN = HumanText("There is no such answer.")
NO_SUCH_CONVERSATION = HumanText("There is no such conversation.")
OTHER_REQUEST = HumanText("This idempotency key was used for another request. Use a new one.")


_SAME_KEY = sa.select(runs.c.run_ref, runs.c.conversation_id, runs.c.request_digest).where(
    runs.c.tenant_id == sa.bindparam("of_tenant"),
    runs.c.principal == sa.bindparam("by"),
    runs.c.idempotency_key == sa.bindparam("key"),
)
_ADD_TURN = (
    sa.update(conversations)
    .where(
        conversations.c.id == sa.bindparam("conversation"),
        conversations.c.tenant_id == sa.bindparam("of_tenant"),
        conversations.c.owner == sa.bindparam("by"),
    )
    .values(
        title=sa.case(
            (conversations.c.turn_count == 0, sa.bindparam("named", type_=AnyText)),
            else_=conversations.c.title,
        ),
        last_turn_at=sa.bindparam("now"),
        turn_count=conversations.c.turn_count + 1,
        ended_at=None,
    )
    .returning(conversations.c.handles_issued, conversations.c.turn_count)
)


def open_run(
    connection: sa.Connection,
    opening: RunOpening,
    owner: str,
    lease_until: datetime,
    events: Sequence[Event],
) -> Result[Opened]:
    """Write the run first: of several that share an idempotency key, one row goes in."""
    if not insert_if_new(connection, runs, _row(opening, owner, lease_until)):
        return _known(connection, opening)
    if insert_if_new(connection, conversations, _conversation(opening)):
        write_events(connection, events, opening.opened_at)
        return Ok(_opened(opening, handles_issued=0))
    found = _go_on(connection, opening)
    if found is None:
        return Err(NotFoundError(NO_SUCH_CONVERSATION))
    is_first = found.turn_count == 1
    told = [e for e in events if is_first or not isinstance(e, ConversationStarted)]
    write_events(connection, told, opening.opened_at)
    return Ok(_opened(opening, found.handles_issued))


def title_of(question: str) -> str:
    """Return the first line of a question, at most `MAX_TITLE` characters, the last one `…` where it was cut."""
    line = next(iter(question.strip().splitlines()), "").rstrip()
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"


def _opened(opening: RunOpening, handles_issued: int) -> Opened:
    conversation = opening.conversation_id.value
    return Opened(opening.run_ref, conversation, FIRST_EPOCH, handles_issued + 1, existed=False)


def _known(connection: sa.Connection, opening: RunOpening) -> Result[Opened]:
    row = fetch_one(
        connection,
        _SAME_KEY,
        of_tenant=opening.tenant_id.value,
        by=opening.principal.value,
        key=opening.idempotency_key,
    )
    if row is None or row.request_digest != opening.request_digest:
        return Err(ConflictError(OTHER_REQUEST))
    return Ok(Opened(RunRef(row.run_ref), row.conversation_id, NO_EPOCH, 0, existed=True))


def _go_on(connection: sa.Connection, opening: RunOpening) -> Any:
    """Add a turn to the person's own conversation; return its handles and turns, None where it is not theirs."""
    return fetch_one(
        connection,
        _ADD_TURN,
        conversation=opening.conversation_id.value,
        of_tenant=opening.tenant_id.value,
        by=opening.principal.value,
        named=title_of(opening.question),
        now=opening.opened_at,
    )


def _row(opening: RunOpening, owner: str, lease_until: datetime) -> dict[str, object]:
    return {
        "run_ref": opening.run_ref.value,
        "tenant_id": opening.tenant_id.value,
        "principal": opening.principal.value,
        "conversation_id": opening.conversation_id.value,
        "surface_id": opening.surface_id,
        "question": opening.question,
        "opened_at": opening.opened_at,
        "scope_digest": opening.scope_digest,
        "profile_version": opening.profile_version,
        "model_version": opening.model_version,
        "offered": [_offered(tool) for tool in opening.offered.tools],
        "idempotency_key": opening.idempotency_key,
        "request_digest": opening.request_digest,
        "owner": owner,
        "epoch": FIRST_EPOCH,
        "lease_until": lease_until,
        "stop_requested": False,
        "last_cursor": 0,
        "sealed": False,
    }


@lru_cache(maxsize=1024)
def _offered(tool: OfferedTool) -> dict[str, object]:
    return asdict(tool)


def _conversation(opening: RunOpening) -> dict[str, object]:
    return {
        "id": opening.conversation_id.value,
        "tenant_id": opening.tenant_id.value,
        "owner": opening.principal.value,
        "surface_id": opening.surface_id,
        "title": title_of(opening.question),
        "started_at": opening.opened_at,
        "last_turn_at": opening.opened_at,
        "turn_count": 1,
        "handles_issued": 0,
        "ended_at": None,
    }
