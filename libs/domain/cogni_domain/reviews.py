"""What a person says of an answer."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cogni_domain.events import CorrectionSubmitted
from cogni_kernel import PrincipalId, RunRef, TenantId

MAX_COMMENT = 2_000


class Verdict(Enum):
    """Whether an answer helped."""

    UP = "up"
    DOWN = "down"


class ReviewReason(Enum):
    """What is wrong with an answer."""

    INCORRECT = "incorrect"
    OUTDATED = "outdated"
    UNSUPPORTED = "unsupported"
    INCOMPLETE = "incomplete"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Review:
    """One person's verdict on one answer. A later one is another record: what was said stays.

    Attributes:
        comment: In the person's own words: content, never in an event, audit, telemetry or a log.
    """

    id: str
    tenant_id: TenantId
    run_ref: RunRef
    by: PrincipalId
    verdict: Verdict
    reasons: frozenset[ReviewReason]
    comment: str
    at: datetime

    def __post_init__(self) -> None:
        if len(self.comment) > MAX_COMMENT:
            raise ValueError(f"a comment has at most {MAX_COMMENT} characters")

    def events(self) -> list[CorrectionSubmitted]:
        """Return what others are told: that an answer was called wrong, and where that is written."""
        if self.verdict is Verdict.UP:
            return []
        return [CorrectionSubmitted(self.tenant_id, self.run_ref, self.id)]
