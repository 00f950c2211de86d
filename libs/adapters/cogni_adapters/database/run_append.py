"""What many runs add to the log, in one transaction."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from cogni_adapters.database.tables.runs import run_deltas, run_steps, runs
from cogni_domain.ports.run_log import LogEntry
from cogni_domain.run_record import step_payload
from cogni_engine import Delta, to_payload
from cogni_kernel import RunRef


def append_entries(connection: sa.Connection, entries: Sequence[LogEntry]) -> frozenset[RunRef]:
    """Write what its owner may write; return the other runs.

    A run is lost that is sealed, has another epoch, or does not go on where the log ends: then its writer
    knows another log than this one.
    """
    standing = _unsealed(connection, {entry.run_ref for entry in entries})
    last = {ref: last_cursor for ref, (_, last_cursor) in standing.items()}
    good: list[LogEntry] = []
    lost: set[RunRef] = set()
    for entry in entries:
        ref = entry.run_ref
        epoch, _ = standing.get(ref, (None, 0))
        if epoch != entry.epoch or not _goes_on(entry, last[ref]):
            lost.add(ref)
        elif ref not in lost:
            last[ref] += len(entry.deltas)
            good.append(entry)
    _write(connection, good, last)
    return frozenset(lost)


def delta_row(run: RunRef, cursor: int, delta: Delta) -> dict[str, object]:
    """Return a delta as its row."""
    payload = to_payload(delta)
    return {"run_ref": run.value, "cursor": cursor, "name": delta.name, "payload": payload}


def _unsealed(connection: sa.Connection, refs: set[RunRef]) -> Mapping[RunRef, tuple[int, int]]:
    """Hold the runs, in one order so that two processes never deadlock; return epoch and last cursor."""
    rows = connection.execute(
        sa.select(runs.c.run_ref, runs.c.epoch, runs.c.last_cursor)
        .where(runs.c.run_ref.in_([ref.value for ref in refs]), ~runs.c.sealed)
        .order_by(runs.c.run_ref)
        .with_for_update(key_share=True)
    )
    return {RunRef(row.run_ref): (row.epoch, row.last_cursor) for row in rows}


def _goes_on(entry: LogEntry, last_cursor: int) -> bool:
    return not entry.deltas or entry.first_cursor == last_cursor + 1


def _write(
    connection: sa.Connection, entries: Sequence[LogEntry], last: Mapping[RunRef, int]
) -> None:
    deltas = [
        delta_row(entry.run_ref, cursor, delta)
        for entry in entries
        for cursor, delta in enumerate(entry.deltas, entry.first_cursor)
    ]
    steps = [
        {"run_ref": entry.run_ref.value, "payload": step_payload(step)}
        for entry in entries
        for step in entry.steps
    ]
    moved = {entry.run_ref for entry in entries if entry.deltas}
    if deltas:
        connection.execute(sa.insert(run_deltas), deltas)
        connection.execute(
            sa.update(runs)
            .where(runs.c.run_ref == sa.bindparam("ref"))
            .values(last_cursor=sa.bindparam("last")),
            [{"ref": ref.value, "last": last[ref]} for ref in sorted(moved)],
        )
    if steps:
        connection.execute(sa.insert(run_steps), steps)
