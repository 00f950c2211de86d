"""When a model call is tried again."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cogni_kernel import Error


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Full jitter, bounded, and never after something was shown.

    Attributes:
        attempts: Calls in all, the first included.
        base_s: The first wait is at most this long; each further one at most twice the last.
        cap_s: No wait is longer, and a provider that asks for more is not asked again.
        uniform: Draws between two bounds; injected so that a test decides.
        sleep: Waits; injected for the same reason.

    Raises:
        ValueError: There is no attempt, or a wait is negative.
    """

    attempts: int = 3
    base_s: float = 0.5
    cap_s: float = 10.0
    uniform: Callable[[float, float], float] = random.uniform
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

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
