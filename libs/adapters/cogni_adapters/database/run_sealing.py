"""The end of a run: whoever comes first writes it, whole, and nobody after."""

from dataclasses import asdict

import sqlalchemy as sa

from cogni_adapters.database.run_append import delta_row
from cogni_adapters.database.tables.runs import run_deltas, run_lineage, run_sealings, runs
from cogni_domain.run_record import Sealing
from cogni_engine import Delta
from cogni_kernel import RunRef, Usage


def seal_run(
    connection: sa.Connection, run: RunRef, epoch: int | None, sealing: Sealing, terminal: Delta
) -> bool:
    """Seal the run if it is open, and its epoch is still this one; the row count decides."""
    may_seal = (runs.c.run_ref == run.value) & ~runs.c.sealed
    if epoch is not None:
        may_seal &= runs.c.epoch == epoch
    row = connection.execute(
        sa.update(runs)
        .where(may_seal)
        .values(sealed=True, last_cursor=runs.c.last_cursor + 1)
        .returning(runs.c.last_cursor, runs.c.tenant_id)
    ).first()
    if row is None:
        return False
    connection.execute(sa.insert(run_deltas), delta_row(run, row.last_cursor, terminal))
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
