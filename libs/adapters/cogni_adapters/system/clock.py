"""The machine's own clock."""

from datetime import UTC, datetime

from cogni_domain.ports.clock import ClockPort


class SystemClockAdapter(ClockPort):
    """Good for one process; where replicas must agree, the database's clock decides."""

    def now(self) -> datetime:
        return datetime.now(UTC)
