"""Proposals as rows; a conditional update is the only arbiter between decisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.outbox import write_events
from cogni_adapters.database.tables.work import proposals
from cogni_domain.events import Event
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.proposals import NO_SUCH, Proposal, ProposalState, may_follow
from cogni_kernel import Err, NotFoundError, Ok, PrincipalId, ProposalId, Result, RunRef, TenantId


class DatabaseProposalStoreAdapter(ProposalStorePort):
    """Every step is one transaction with its events.

    Source:
        DESIGN D8.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant: TenantId, proposal: ProposalId) -> Result[Proposal]:
        query = sa.select(proposals).where(
            proposals.c.id == proposal.value, proposals.c.tenant_id == tenant.value
        )

        def find(connection: sa.Connection) -> Result[Proposal]:
            row = connection.execute(query).first()
            return Err(NotFoundError(NO_SUCH)) if row is None else Ok(_proposal(row))

        return await self._database.read(find)

    async def transition(
        self,
        proposal: ProposalId,
        current: ProposalState,
        wanted: ProposalState,
        now: datetime,
        note: str = "",
        events: Sequence[Event] = (),
    ) -> Result[bool]:
        if not may_follow(current, wanted):
            raise ValueError(f"no proposal goes from {current.value} to {wanted.value}")
        statement = sa.update(proposals).where(
            proposals.c.id == proposal.value, proposals.c.state == current.value
        )
        if wanted is ProposalState.ACCEPTED:
            statement = statement.where(proposals.c.expires_at > now)
        statement = statement.values(state=wanted.value, state_since=now)
        if note:
            statement = statement.values(note=note)

        def step(connection: sa.Connection) -> Result[bool]:
            if connection.execute(statement).rowcount != 1:
                return Ok(False)
            write_events(connection, events, now)
            return Ok(True)

        return await self._database.write(step)

    async def in_state(self, state: ProposalState, before: datetime) -> Result[Sequence[Proposal]]:
        query = (
            sa.select(proposals)
            .where(proposals.c.state == state.value, proposals.c.state_since < before)
            .order_by(proposals.c.state_since, proposals.c.id)
        )
        return await self._database.read(
            lambda connection: Ok([_proposal(row) for row in connection.execute(query)])
        )


def insert_proposal(connection: sa.Connection, proposal: Proposal) -> None:
    """Write a new proposal, in the transaction of its run's end."""
    row = {
        "id": proposal.id.value,
        "tenant_id": proposal.tenant_id.value,
        "run_ref": proposal.run_ref.value,
        "tool_name": proposal.tool_name,
        "tool_version": proposal.tool_version,
        "arguments": proposal.arguments,
        "rendering": dict(proposal.rendering),
        "proposed_to": proposal.proposed_to.value,
        "proposed_at": proposal.proposed_at,
        "expires_at": proposal.expires_at,
        "state": proposal.state.value,
        "state_since": proposal.proposed_at,
        "note": proposal.note,
    }
    connection.execute(sa.insert(proposals), row)


def _proposal(row: sa.Row[*tuple[Any, ...]]) -> Proposal:
    return Proposal(
        ProposalId(row.id),
        TenantId(row.tenant_id),
        RunRef(row.run_ref),
        row.tool_name,
        row.tool_version,
        row.arguments,
        row.rendering,
        PrincipalId(row.proposed_to),
        row.proposed_at,
        row.expires_at,
        ProposalState(row.state),
        row.note,
    )
