"""How a provider has been lately."""

from collections import deque

from cogni_engine import HealthState


class RecentCalls:
    """How the last ten calls went: DOWN after three failures in a row, DEGRADED while any is remembered."""

    def __init__(self) -> None:
        self._went_well: deque[bool] = deque(maxlen=10)

    def note(self, *, went_well: bool) -> None:
        """Remember one call."""
        self._went_well.append(went_well)

    def health(self) -> HealthState:
        """Return what the calls say of the provider."""
        last = list(self._went_well)
        if len(last) >= 3 and not any(last[-3:]):
            return HealthState.DOWN
        return HealthState.HEALTHY if all(last) else HealthState.DEGRADED
