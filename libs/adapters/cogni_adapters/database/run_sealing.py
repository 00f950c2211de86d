"""The end of a run: whoever comes first writes it, whole, and nobody after."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from cogni_adapters.database.run_append import delta_row
from cogni_adapters.database.tables.runs import run_deltas, run_lineage, run_sealings, runs
from cogni_domain.run_record import Sealing
from cogni_engine import Delta
from cogni_kernel import RunRef, Usage


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
    may_seal = (runs.c.run_ref == run.value) & ~runs.c.sealed
    if wanted.epoch is not None:
        may_seal &= runs.c.epoch == wanted.epoch
    if wanted.last_cursor is not None:
        may_seal &= runs.c.last_cursor == wanted.last_cursor
    row = connection.execute(
        sa.update(runs)
        .where(may_seal)
        .values(sealed=True, last_cursor=runs.c.last_cursor + len(closing))
        .returning(runs.c.last_cursor, runs.c.tenant_id)
    ).first()
    if row is None:
        return False
    first = row.last_cursor - len(closing) + 1
    connection.execute(
        sa.insert(run_deltas), [delta_row(run, n, delta) for n, delta in enumerate(closing, first)]
    )
    _write_sealing(connection, run, row.tenant_id, sealing)
    return True


def _usage_payload(usage: Usage) -> dict[str, object]:
    task_class = usage.task_class
    return {**asdict(usage), "task_class": None if task_class is None else task_class.value}


def _write_sealing(
    connection: sa.Connection, run: RunRef, tenant_id: str, sealing: Sealing
) -> None:
    connection.execute(
        sa.insert(run_sealings),
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
        connection.execute(
            sa.insert(run_lineage),
            [
                {"run_ref": run.value, "document_id": document.value, "tenant_id": tenant_id}
                for document in sorted(sealing.lineage)
            ],
        )
