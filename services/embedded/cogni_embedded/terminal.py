"""What a person sees on the terminal: text without its tricks, and how long work goes."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but tab and line feed: an answer must not move the cursor, recolour the screen or ring."""

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def tolerate_any_text() -> None:
    """Let text that the terminal's encoding cannot show be replaced rather than refused."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def plain(text: str) -> str:
    """Return text without control characters.

    >>> plain("red \x1b[31malert\x07")
    'red [31malert'
    """
    return _CONTROLS.sub("", text)


@contextmanager
def progress(begins: str) -> Iterator[Callable[[str], None]]:
    """Show a line that changes while work goes on; on a terminal alone."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        line = bar.add_task(begins)
        yield lambda text: bar.update(line, description=plain(text))
