"""A mutation that waits for a person: a state machine in which only the first decision counts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    PrincipalId,
    ProposalId,
    Result,
    RunRef,
    TenantId,
)

EXPIRY = timedelta(hours=24)

NO_SUCH = HumanText("There is no such proposal.")
EXPIRED = HumanText("This proposal has expired. Ask again if you still want the change.")
DECIDED = HumanText("This proposal has already been decided.")


class ProposalState(Enum):
    """Where a proposal stands. UNKNOWN, after a crash in mid-execution, is cleared by a person alone."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    EXECUTING = "executing"
    EXECUTED = "executed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    DECLINED = "declined"
    EXPIRED = "expired"


TRANSITIONS: Mapping[ProposalState, frozenset[ProposalState]] = {
    ProposalState.PENDING: frozenset(
        {ProposalState.ACCEPTED, ProposalState.DECLINED, ProposalState.EXPIRED}
    ),
    ProposalState.ACCEPTED: frozenset({ProposalState.EXECUTING, ProposalState.FAILED}),
    ProposalState.EXECUTING: frozenset(
        {ProposalState.EXECUTED, ProposalState.FAILED, ProposalState.UNKNOWN}
    ),
    ProposalState.UNKNOWN: frozenset({ProposalState.EXECUTED, ProposalState.FAILED}),
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a person decides on.

    Attributes:
        id: Also the idempotency key of the execution.
        arguments: Canonical JSON; exactly what will be executed.
        rendering: What the person reads, made from the arguments alone.
        proposed_to: Who was shown it; nobody else may decide.
        expires_at: UTC; judged at the decision and again at the execution.
        note: After the execution: what the tool said, for the person.

    Source:
        COGNI.BUILD spec, package domain, "Proposal"; DESIGN D8.
    """

    id: ProposalId
    tenant_id: TenantId
    run_ref: RunRef
    tool_name: str
    tool_version: str
    arguments: str
    rendering: Mapping[str, object]
    proposed_to: PrincipalId
    proposed_at: datetime
    expires_at: datetime
    state: ProposalState = ProposalState.PENDING
    note: str = ""

    @property
    def arguments_digest(self) -> str:
        """The name of the arguments, for the record and the execution's check."""
        return hashlib.sha256(self.arguments.encode()).hexdigest()

    def decidable(self, by: PrincipalId, now: datetime) -> Result["Proposal"]:
        """Tell whether `by` may decide now.

        Errors:
            NotFoundError: It was shown to somebody else: the same answer as for one that never was.
            ConflictError: It has expired, or was decided already.
        """
        if by != self.proposed_to:
            return Err(NotFoundError(NO_SUCH))
        if self.state is ProposalState.EXPIRED or (
            self.state is ProposalState.PENDING and now >= self.expires_at
        ):
            return Err(ConflictError(EXPIRED))
        if self.state is not ProposalState.PENDING:
            return Err(ConflictError(DECIDED))
        return Ok(self)


def may_follow(current: ProposalState, wanted: ProposalState) -> bool:
    """Tell whether a proposal may go from one state to the other."""
    return wanted in TRANSITIONS.get(current, frozenset())
