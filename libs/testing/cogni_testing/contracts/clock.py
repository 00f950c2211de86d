"""What every `ClockPort` promises."""

from abc import ABC, abstractmethod
from datetime import timedelta

from cogni_domain.ports.clock import ClockPort


class ClockContract(ABC):
    """Time is one line, in one zone."""

    @abstractmethod
    def make_clock(self) -> ClockPort:
        """Return the clock under test."""

    def test_the_moment_is_aware_and_in_utc(self) -> None:
        assert self.make_clock().now().utcoffset() == timedelta()

    def test_a_later_reading_is_not_earlier(self) -> None:
        clock = self.make_clock()

        readings = [clock.now() for _ in range(100)]

        assert readings == sorted(readings)
