from cogni_adapters.system.clock import SystemClockAdapter
from cogni_testing.contracts.clock import ClockContract


class TestSystemClock(ClockContract):
    def make_clock(self) -> SystemClockAdapter:
        return SystemClockAdapter()
