"""What people say of answers, as rows."""

from collections.abc import Sequence
from typing import cast

import sqlalchemy as sa

from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.run_opening import NO_SUCH_RUN
from cogni_adapters.database.tables.runs import reviews, runs
from cogni_domain.reviews import Review, ReviewReason, Verdict
from cogni_kernel import Err, NotFoundError, Ok, PrincipalId, Result, RunRef, TenantId


def keep_review(connection: sa.Connection, review: Review) -> Result[None]:
    """Write a review once, with its events."""
    tenant = sa.select(runs.c.tenant_id).where(runs.c.run_ref == review.run_ref.value)
    if connection.scalar(tenant) != review.tenant_id.value:
        return Err(NotFoundError(NO_SUCH_RUN))
    row = {
        "id": review.id,
        "tenant_id": review.tenant_id.value,
        "run_ref": review.run_ref.value,
        "by": review.by.value,
        "verdict": review.verdict.value,
        "reasons": sorted(reason.value for reason in review.reasons),
        "comment": review.comment,
        "at": review.at,
    }
    insert_if_new(connection, reviews, row)
    write_events(connection, review.events(), review.at)
    return Ok(None)


def reviews_of(connection: sa.Connection, run: RunRef) -> Sequence[Review]:
    """Return what was said of an answer, oldest first."""
    query = (
        sa.select(reviews)
        .where(reviews.c.run_ref == run.value)
        .order_by(reviews.c.at, reviews.c.id)
    )
    return [
        Review(
            row.id,
            TenantId(row.tenant_id),
            RunRef(row.run_ref),
            PrincipalId(row.by),
            Verdict(row.verdict),
            frozenset(map(ReviewReason, cast(list[str], row.reasons))),
            row.comment,
            row.at,
        )
        for row in connection.execute(query)
    ]
