"""Work that a process does again and again, for as long as it lives."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)


async def forever(step: Callable[[], Awaitable[object]], pause_s: float) -> None:
    """Do `step` again and again, `pause_s` apart, until cancelled; a bug in one of them ends none of the others."""
    while True:
        try:
            await step()
        except Exception:
            _log.exception("%s failed", getattr(step, "__qualname__", step))
        await asyncio.sleep(pause_s)
