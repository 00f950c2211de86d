"""Time, injected."""

from typing import Protocol

from cogni_engine import Clock


class ClockPort(Clock, Protocol):
    """Implementations must pass `contracts.clock.ClockContract`."""
