"""Work in lanes: by reference, due at once unless it says when."""

from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Job, Lane, LeasedJob
from cogni_kernel import TenantId


def test_a_job_is_due_at_once_and_a_lease_knows_its_job() -> None:
    job = Job(PROPOSAL_EXECUTE, TenantId("acme"), "p1", {"proposal_id": "p1"})

    assert job.not_before is None
    assert LeasedJob("j1", job, 1, None, "1").job == job


def test_lanes_and_kinds_are_apart() -> None:
    assert len({lane.value for lane in Lane}) == len(Lane) == 5
    assert PROPOSAL_EXECUTE != PROPOSAL_EXPIRE
