"""What a person says of an own answer, kept for whoever looks after the assistant."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.reviews import Review, ReviewReason, Verdict
from cogni_engine import Clock
from cogni_kernel import ConflictError, Err, HumanText, Ok, Result, RunRef, encodable

GOES_ON = HumanText("This answer is not finished yet. Say what you think of it when it is.")


@dataclass(frozen=True, slots=True)
class Opinion:
    """A verdict as a person gives it.

    Attributes:
        idempotency_key: The same key by the same person is the same review, again.
    """

    verdict: Verdict
    reasons: frozenset[ReviewReason] = frozenset()
    comment: str = ""
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class FeedbackService:
    """Takes verdicts on own, finished answers."""

    transcripts: TranscriptService
    store: TranscriptStorePort
    clock: Clock
    new_id: Callable[[], str]

    async def submit(self, run: RunRef, opinion: Opinion, principal: Principal) -> Result[Review]:
        """Keep a review; a bad one is told to whoever listens to events.

        Errors:
            NotFoundError: There is no such run of this principal.
            ConflictError: The run goes on still.
        """
        status = await self.transcripts.owned(run, principal)
        if isinstance(status, Err):
            return status
        if not status.value.sealed:
            return Err(ConflictError(GOES_ON))
        review = Review(
            id=self._id(run, opinion, principal),
            tenant_id=status.value.tenant_id,
            run_ref=run,
            by=principal.owner,
            verdict=opinion.verdict,
            reasons=opinion.reasons,
            comment=encodable(opinion.comment),
            at=self.clock.now(),
        )
        kept = await self.store.keep_review(review)
        return kept if isinstance(kept, Err) else Ok(review)

    def _id(self, run: RunRef, opinion: Opinion, principal: Principal) -> str:
        if opinion.idempotency_key is None:
            return self.new_id()
        parts = (str(run), str(principal.owner), opinion.idempotency_key)
        text = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
