"""Relaying and delivering until told to stop, then ending what has begun."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

import structlog
import uvicorn

from cogni_domain.ports.clock import ClockPort
from cogni_event_sink.bootstrap import EventSink
from cogni_event_sink.health import Health, health_app
from cogni_event_sink.settings import Settings
from cogni_kernel import Err, Ok, Result

DRAIN_S = 20.0
"""Longer than an attempt may take."""

_log = structlog.get_logger("cogni_event_sink")


async def serve(sink: EventSink, settings: Settings, until: asyncio.Event) -> Result[None]:
    """Serve until `until` is set; then begin nothing more, and end the attempts that run.

    Errors:
        ConflictError: The database has another schema; the message says which command to run.
        UpstreamError: The database does not answer.
    """
    refused = await sink.bindings.refuse_other_schema()
    if isinstance(refused, Err):
        await sink.bindings.close()
        return refused
    worker = asyncio.create_task(sink.worker.work(sink.draining))
    others = [asyncio.create_task(w) for w in (sink.relay.work(), sink.worker.sweep())]
    server = _server(sink, settings)
    serving = asyncio.create_task(server.serve())
    _log.info("event-sink serves", host=settings.host, port=settings.port)
    await until.wait()
    sink.draining.set()
    await asyncio.wait([worker], timeout=DRAIN_S)
    for task in (worker, *others):
        task.cancel()
    await asyncio.gather(worker, *others, return_exceptions=True)
    server.should_exit = True
    await serving
    await sink.bindings.close()
    _log.info("event-sink has ended")
    return Ok(None)


class _HealthServer(uvicorn.Server):
    """A server that leaves signals to the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(sink: EventSink, settings: Settings) -> uvicorn.Server:
    now = sink.bindings.container.resolve(ClockPort).now
    app = health_app(Health(sink.why_not_ready, sink.waiting_since, now))
    config = uvicorn.Config(
        app, host=settings.host, port=settings.port, log_config=None, access_log=False
    )
    return _HealthServer(config)


def on_signals(told: Callable[[], None]) -> None:
    """Have `told` called on SIGTERM and SIGINT."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
