"""Places in a document as a person would say them: `page 3`, `lines 10-14`, `Sheet1!A1:D20`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_NUMBERED = re.compile("(page|slide|line|row|part|paragraph|section)s? ([0-9]+)(?:-([0-9]+))?")
_CELLS = re.compile("(.*!)([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)", re.DOTALL)
_LINES = ("line", "row")


@dataclass(frozen=True, slots=True)
class _Range:
    """Numbers from first to last of a kind, or rows of a sheet between two columns."""

    kind: str
    first: int
    last: int
    left: str = ""
    right: str = ""

    def __str__(self) -> str:
        if self.left:
            return f"{self.kind}{self.left}{self.first}:{self.right}{self.last}"
        if self.first == self.last:
            return f"{self.kind} {self.first}"
        return f"{self.kind}s {self.first}-{self.last}"


def covering(locators: Sequence[str]) -> str:
    """Return the place that covers all of these, which are in reading order.

    >>> covering(["page 3", "page 4"]), covering(["Log!A1:B9", "Log!A10:B12"])
    ('pages 3-4', 'Log!A1:B12')
    """
    known = list(dict.fromkeys(filter(None, locators)))
    if len(known) < 2:
        return "".join(known)
    ranges = [found for found in map(_parsed, known) if found is not None]
    if len(ranges) < len(known) or len({each.kind for each in ranges}) > 1:
        return f"{known[0]} to {known[-1]}"
    first, last = min(r.first for r in ranges), max(r.last for r in ranges)
    left = min((r.left for r in ranges), key=_column)
    right = max((r.right for r in ranges), key=_column)
    return str(_Range(ranges[0].kind, first, last, left, right))


def narrowed(locator: str, lines: int, first: int, last: int) -> str:
    """Return the place of the lines `first` to `last`, counted from 0, of a block of so many `lines`.

    Only where the locator counts exactly these lines; else all of it is the closest that is known.

    >>> narrowed("lines 10-14", 5, 1, 2)
    'lines 11-12'
    """
    place = _parsed(locator)
    if place is None or not (place.left or place.kind in _LINES):
        return locator
    # A part of a long table has the header above its own rows.
    header = lines - (place.last - place.first + 1)
    if header not in (0, 1):
        return locator
    begins = place.first + max(0, first - header)
    return str(replace(place, first=begins, last=max(begins, place.first + last - header)))


def _parsed(locator: str) -> _Range | None:
    if (cells := _CELLS.fullmatch(locator)) is not None:
        sheet, left, first, right, last = cells.groups()
        return _Range(sheet, int(first), int(last), left, right)
    if (numbered := _NUMBERED.fullmatch(locator)) is not None:
        kind, first, last = numbered.groups()
        return _Range(kind, int(first), int(last or first))
    return None


def _column(letters: str) -> tuple[int, str]:
    return len(letters), letters
