"""Run records and conversations: more sensitive than the corpus that they speak of."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from cogni_domain.access.principal import Principal
from cogni_domain.conversations import Conversation, PastTurn
from cogni_domain.knowledge.citations import Citation
from cogni_domain.reviews import Review
from cogni_domain.run_record import RunRecord, Step
from cogni_kernel import ConversationId, HumanText, PrincipalId, Result, RunRef, TenantId


class TranscriptStorePort(Protocol):
    """Implementations must pass `contracts.transcript_store.TranscriptStoreContract`."""

    async def conversations(
        self, tenant: TenantId, owner: PrincipalId, limit: int
    ) -> Result[Sequence[Conversation]]:
        """Return a person's own conversations, newest first."""
        ...

    async def conversation(
        self, tenant: TenantId, owner: PrincipalId, conversation: ConversationId
    ) -> Result[tuple[Conversation, Sequence[PastTurn]]]:
        """Return one own conversation and its sealed turns, oldest first.

        Errors:
            NotFoundError: It is absent or somebody else's: indistinguishable.
        """
        ...

    async def begin(self, conversation: Conversation) -> Result[None]:
        """Keep a conversation that has no turn yet; the same one again changes nothing.

        Its first turn gives it its title and tells that it started; one that ends without a turn tells nothing.

        Errors:
            NotFoundError: Its id is somebody else's conversation.
        """
        ...

    async def end_idle(self, before: datetime) -> Result[int]:
        """End every open conversation whose last turn was before then, each with its event."""
        ...

    async def end(
        self, tenant: TenantId, owner: PrincipalId, conversation: ConversationId
    ) -> Result[None]:
        """End an own conversation, with its event; ending it again changes nothing.

        Errors:
            NotFoundError: It is absent or somebody else's: indistinguishable.
        """
        ...

    async def open_ones(
        self, tenant: TenantId, among: Collection[ConversationId]
    ) -> Result[frozenset[ConversationId]]:
        """Return those of a tenant's conversations that have not ended."""
        ...

    async def keep_review(self, review: Review) -> Result[None]:
        """Keep what a person says of an answer, with its events; the same review again changes nothing.

        Errors:
            NotFoundError: There is no such run in that tenant.
        """
        ...

    async def reviews(self, run: RunRef) -> Result[Sequence[Review]]:
        """Return what was said of an answer, oldest first."""
        ...

    async def reserve_handles(self, run: RunRef, count: int) -> Result[int]:
        """Count the handles of the run's conversation on by `count`; return the first of those numbers.

        Two runs of one conversation never get the same number.

        Errors:
            NotFoundError: There is no such run.
        """
        ...

    async def keep_citations(self, run: RunRef, citations: Sequence[Citation]) -> Result[None]:
        """Keep what a run issued, and count its conversation's handles on. Idempotent."""
        ...

    async def citations(self, run: RunRef) -> Result[Sequence[Citation]]:
        """Return what a run issued, in the order of the numbers; nothing for a run that never was."""
        ...

    async def citation(self, run: RunRef, handle: str) -> Result[Citation]:
        """Return what a handle stands for in the run that issued it.

        Errors:
            NotFoundError: That run issued no such handle.
        """
        ...

    async def append(self, run: RunRef, step: Step) -> Result[None]:
        """Add a step to a record after its run: a person's confirmation."""
        ...

    async def read(self, run: RunRef, by: Principal, reason: HumanText) -> Result[RunRecord]:
        """Return a record; the read itself, with who and why, is recorded in the same transaction.

        Errors:
            InvalidArgumentError: No reason is given.
            NotFoundError: There is no such run in the reader's tenant.
        """
        ...
