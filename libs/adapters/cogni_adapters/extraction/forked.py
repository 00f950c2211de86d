"""What a forked reader does before it opens a file, and how its end is told."""

import json
import os
import signal
from pathlib import Path

from cogni_adapters.extraction.answer import most_bytes
from cogni_adapters.extraction.draft import Source
from cogni_adapters.extraction.lockdown import limit, refuse_in_python
from cogni_domain.knowledge.extracted import ExtractionLimits


def settle(scratch: Path, limits: ExtractionLimits) -> None:
    """Begin a child's own group in its own folder, under the limits and the audit hook."""
    os.setsid()
    os.chdir(scratch)
    refuse_in_python(scratch)
    limit(limits, most_bytes(limits))


def source_in(descriptor: int, limits: ExtractionLimits) -> Source:
    """Take a question: a line of JSON, the file's name, then the file."""
    with os.fdopen(descriptor, "rb") as file:
        name = json.loads(file.readline())
        return Source(str(name), file.read(), limits)


def ended(process: int, *, timed_out: bool) -> dict[str, int | bool]:
    """End a child with all that it started, if it still runs, and tell how it ended."""
    for kill in (os.kill, os.killpg):
        try:
            kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"signal": max(-code, 0), "failed": code > 0, "timed_out": timed_out}
