"""`python -m cogni_event_sink`: tell endpoints outside what happened, until told to stop."""

import asyncio
import logging
import sys

import structlog

from cogni_event_sink.bootstrap import build
from cogni_event_sink.serving import on_signals, serve
from cogni_event_sink.settings import Settings, WrongSettingError
from cogni_kernel import Err


def main() -> int:
    """Return 0 where it ended as it was told to, 2 for a wrong setting, 1 for anything else."""
    try:
        settings = Settings.read()
    except WrongSettingError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _log_as_json()
    return asyncio.run(_run(settings))


async def _run(settings: Settings) -> int:
    until = asyncio.Event()
    on_signals(until.set)
    ended = await serve(build(settings), settings, until)
    if isinstance(ended, Err):
        sys.stderr.write(f"{ended.error.message}\n")
        return 1
    return 0


def _log_as_json() -> None:
    """Write logs, those of libraries too, as one JSON object a line."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("cogni_event_sink").setLevel(logging.INFO)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


if __name__ == "__main__":
    sys.exit(main())
