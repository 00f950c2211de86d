"""What a person sees on the terminal: text without its tricks, and how long work goes."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cogni_kernel import encodable

EVERY_S = 3.0
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but tab and line feed: an answer must not move the cursor, recolour the screen or ring."""

_out = Console(highlight=False, markup=False, soft_wrap=True)
_err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def tolerate_any_text() -> None:
    """Let text that the terminal's encoding cannot show be replaced rather than refused."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def plain(text: str) -> str:
    """Return text that a terminal can only show.

    >>> plain("red \\x1b[31malert\\x07")
    'red [31malert'
    """
    return _CONTROLS.sub("", encodable(text))


def say(text: str, *, aside: bool = False) -> None:
    """Print a line."""
    _out.print(plain(text), style="dim" if aside else None)


def say_on(text: str) -> None:
    """Print a piece of a line, at once."""
    sys.stdout.write(plain(text))
    sys.stdout.flush()


def complain(text: str, *, aside: bool = False) -> None:
    """Print a line beside the output proper."""
    _err.print(plain(text), style="dim" if aside else None)


@contextmanager
def progress(begins: str) -> Iterator[Callable[[str], None]]:
    """Show a line that changes while work goes on; where there is no terminal, a line now and then."""
    if not _err.is_terminal:
        yield _now_and_then(complain)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=_err, transient=True) as bar:
        line = bar.add_task(begins)
        yield lambda text: bar.update(line, description=plain(text))


def _now_and_then(show: Callable[[str], None]) -> Callable[[str], None]:
    next_at = time.monotonic() + EVERY_S

    def shown(text: str) -> None:
        nonlocal next_at
        if time.monotonic() >= next_at:
            next_at = time.monotonic() + EVERY_S
            show(text)

    return shown
