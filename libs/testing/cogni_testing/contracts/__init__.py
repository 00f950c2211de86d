"""One contract a port: inherit it in a test class, say how the adapter is made, and run it.

Each module is named after its port: `from cogni_testing.contracts.clock import ClockContract`. The tests are
coroutines; run them with pytest-asyncio in auto mode.
"""
