"""When a model call is tried again."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from cogni_kernel import Error

CALLS_PER_RETRY = 10
FIRST_RETRIES = 3
MOST_SAVED = 10


class RetryBudget:
    """How many of a process's model calls may be repeats: one in ten, so that an outage is not made worse.

    The first `FIRST_RETRIES` are lent, so that a young process can retry at all, and earned later: retries never
    exceed them or a tenth of the calls, whichever is more. At most `MOST_SAVED` are saved up from quiet times.

    Share one between all runs of a process. It needs no lock on one event loop.
    """

    def __init__(self) -> None:
        self._saved = FIRST_RETRIES * CALLS_PER_RETRY
        self._lent = self._saved

    def note_call(self) -> None:
        """Earn a tenth of a retry: a call was made that repeats none."""
        if self._lent:
            self._lent -= 1
        else:
            self._saved = min(self._saved + 1, MOST_SAVED * CALLS_PER_RETRY)

    def take(self) -> bool:
        """Take one retry; False where there is none to be had."""
        if self._saved < CALLS_PER_RETRY:
            return False
        self._saved -= CALLS_PER_RETRY
        return True


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Full jitter, bounded, and never after something was shown.

    Attributes:
        attempts: Calls in all, the first included.
        base_s: The first wait is at most this long; each further one at most twice the last.
        cap_s: No wait is longer, and a provider that asks for more is not asked again.
        uniform: Draws between two bounds; injected so that a test decides.
        sleep: Waits; injected for the same reason.
        budget: What all calls of a process may repeat together; share the policy between its runs.

    Raises:
        ValueError: There is no attempt, or a wait is negative.
    """

    attempts: int = 3
    base_s: float = 0.5
    cap_s: float = 10.0
    uniform: Callable[[float, float], float] = random.uniform
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    budget: RetryBudget = field(default_factory=RetryBudget, compare=False)

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.base_s, self.cap_s) < 0:
            raise ValueError("there is at least one attempt, and no wait is negative")

    def wait_s(self, attempt: int, error: Error) -> float | None:
        """Return how long to wait after the `attempt`-th failure (from 1), or None to give up."""
        if not error.retryable or attempt >= self.attempts:
            return None
        asked = error.detail.get("retry_after_s")
        if isinstance(asked, int | float):
            return float(asked) if 0 <= asked <= self.cap_s else None
        return self.uniform(0.0, min(self.cap_s, self.base_s * 2 ** min(attempt - 1, 60)))
