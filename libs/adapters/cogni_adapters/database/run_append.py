"""What many runs add to the log, in one transaction."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from cogni_adapters.database.dialects import packed, texts_named
from cogni_adapters.database.prepared import fetch, inserting, write_many
from cogni_adapters.database.tables.runs import run_deltas, run_steps, runs
from cogni_domain.ports.run_log import LogEntry
from cogni_domain.run_record import step_payload
from cogni_engine import Delta, to_payload
from cogni_kernel import RunRef

_MOVE = (
    sa.update(runs)
    .where(
        runs.c.run_ref == sa.bindparam("ref"),
        runs.c.epoch == sa.bindparam("of"),
        runs.c.last_cursor == sa.bindparam("before"),
        ~runs.c.sealed,
    )
    .values(last_cursor=sa.bindparam("last"))
)
_MOVE_CHECKED = (
    sa.update(runs)
    .where(runs.c.run_ref == sa.bindparam("ref"))
    .values(last_cursor=sa.bindparam("last"))
)
_UNSEALED = (
    sa.select(runs.c.run_ref, runs.c.epoch, runs.c.last_cursor)
    .where(runs.c.run_ref.in_(texts_named("refs")), ~runs.c.sealed)
    .order_by(runs.c.run_ref)
    .with_for_update(key_share=True)
)
_STEP = inserting(run_steps, "run_ref", "payload")


def append_entries(connection: sa.Connection, entries: Sequence[LogEntry]) -> frozenset[RunRef]:
    """Write what its owner may write; return the other runs.

    A run is lost that is sealed, has another epoch, or does not go on where the log ends: then its writer
    knows another log than this one. As a rule none is, and then nothing is read.
    """
    speaking = [entry for entry in entries if entry.deltas]
    silent = [entry for entry in entries if not entry.deltas]
    if _all_go_on(connection, speaking):
        _write(connection, speaking)
    else:
        connection.rollback()
        connection.begin()
        silent = list(entries)
    return _append_checked(connection, silent) if silent else frozenset()


def _all_go_on(connection: sa.Connection, entries: Sequence[LogEntry]) -> bool:
    """Move the ends of the runs that may go on, in one order so that two processes never deadlock; tell if all may."""
    moved = [
        {
            "ref": entry.run_ref.value,
            "of": entry.epoch,
            "before": entry.first_cursor - 1,
            "last": entry.first_cursor - 1 + len(entry.deltas),
        }
        for entry in sorted(entries, key=lambda entry: entry.run_ref.value)
    ]
    return not moved or write_many(connection, _MOVE, moved) == len(moved)


def _append_checked(connection: sa.Connection, entries: Sequence[LogEntry]) -> frozenset[RunRef]:
    """Write run by run what may be written; return the runs of which that is nothing."""
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
    moved = {entry.run_ref for entry in good if entry.deltas}
    if moved:
        ends = [{"ref": ref.value, "last": last[ref]} for ref in sorted(moved)]
        write_many(connection, _MOVE_CHECKED, ends)
    _write(connection, good)
    return frozenset(lost)


def delta_row(run: RunRef, cursor: int, delta: Delta) -> dict[str, object]:
    """Return a delta as its row."""
    payload = to_payload(delta)
    return {"run_ref": run.value, "cursor": cursor, "name": delta.name, "payload": payload}


def _unsealed(connection: sa.Connection, refs: set[RunRef]) -> Mapping[RunRef, tuple[int, int]]:
    """Hold the runs, in one order so that two processes never deadlock; return epoch and last cursor."""
    rows = fetch(connection, _UNSEALED, refs=packed(ref.value for ref in refs))
    return {RunRef(row.run_ref): (row.epoch, row.last_cursor) for row in rows}


def _goes_on(entry: LogEntry, last_cursor: int) -> bool:
    return not entry.deltas or entry.first_cursor == last_cursor + 1


def _write(connection: sa.Connection, entries: Sequence[LogEntry]) -> None:
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
    if deltas:
        write_many(connection, inserting(run_deltas), deltas)
    if steps:
        write_many(connection, _STEP, steps)
