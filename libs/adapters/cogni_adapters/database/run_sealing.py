"""The end of a run: whoever comes first writes it, whole, and nobody after."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from cogni_adapters.database.prepared import fetch_one, inserting, write, write_many
from cogni_adapters.database.run_append import delta_row
from cogni_adapters.database.tables.runs import run_deltas, run_lineage, run_sealings, runs
from cogni_domain.run_record import Sealing
from cogni_engine import Delta
from cogni_kernel import RunRef, Usage

_ANY = -1
_SEAL = (
    sa.update(runs)
    .where(
        runs.c.run_ref == sa.bindparam("ref"),
        ~runs.c.sealed,
        sa.bindparam("of", type_=sa.Integer).in_([runs.c.epoch, _ANY]),
        sa.bindparam("before", type_=sa.Integer).in_([runs.c.last_cursor, _ANY]),
    )
    .values(sealed=True, last_cursor=runs.c.last_cursor + sa.bindparam("more", type_=sa.Integer))
    .returning(runs.c.last_cursor, runs.c.tenant_id)
)


@dataclass(frozen=True, slots=True)
class Sealed:
    """Which run to seal, on what conditions.

    Attributes:
        epoch: The owner's, None for the reaper.
        last_cursor: Where the log must end, None where it may end anywhere.
    """

    run: RunRef
    epoch: int | None
    last_cursor: int | None


def seal_run(
    connection: sa.Connection, wanted: Sealed, sealing: Sealing, closing: Sequence[Delta]
) -> bool:
    """Seal the run if it is open, and its epoch and log are still these; the row count decides."""
    run = wanted.run
    row = fetch_one(
        connection,
        _SEAL,
        ref=run.value,
        of=_ANY if wanted.epoch is None else wanted.epoch,
        before=_ANY if wanted.last_cursor is None else wanted.last_cursor,
        more=len(closing),
    )
    if row is None:
        return False
    first = row.last_cursor - len(closing) + 1
    rows = [delta_row(run, n, delta) for n, delta in enumerate(closing, first)]
    write_many(connection, inserting(run_deltas), rows)
    _write_sealing(connection, run, row.tenant_id, sealing)
    return True


def _usage_payload(usage: Usage) -> dict[str, object]:
    task_class = usage.task_class
    return {**asdict(usage), "task_class": None if task_class is None else task_class.value}


def _write_sealing(
    connection: sa.Connection, run: RunRef, tenant_id: str, sealing: Sealing
) -> None:
    write(
        connection,
        inserting(run_sealings),
        {
            "run_ref": run.value,
            "kind": sealing.kind,
            "outcome": dict(sealing.outcome),
            "answer": sealing.answer,
            "usage": _usage_payload(sealing.usage),
            "sealed_at": sealing.sealed_at,
        },
    )
    if sealing.lineage:
        write_many(
            connection,
            inserting(run_lineage),
            [
                {"run_ref": run.value, "document_id": document.value, "tenant_id": tenant_id}
                for document in sorted(sealing.lineage)
            ],
        )
