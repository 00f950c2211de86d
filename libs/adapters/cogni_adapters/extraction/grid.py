"""Rows of a sheet, and the names that people give to places in it."""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_GAP = 50


@dataclass(frozen=True, slots=True)
class Cells:
    """One row: its number, the first column (from 1) that is filled, and what the cells show from there."""

    number: int
    column: int
    texts: Sequence[str]

    @property
    def last_column(self) -> int:
        return self.column + len(self.texts) - 1


def locate(sheet: str, rows: Sequence[Cells]) -> str:
    """Return the range of rows, `Sheet1!A1:D20`."""
    left = _letters(min(row.column for row in rows))
    right = _letters(max(row.last_column for row in rows))
    return f"{sheet}!{left}{rows[0].number}:{right}{rows[-1].number}"


def aligned(cells: Sequence[tuple[int, str]]) -> Sequence[str]:
    """Texts with an empty one for each blank column between; a wide gap counts as one column."""
    texts: list[str] = []
    last = cells[0][0] - 1
    for column, text in cells:
        gap = column - last - 1
        texts.extend([""] * (gap if 0 < gap <= MAX_GAP else min(max(gap, 0), 1)))
        texts.append(text)
        last = column
    return texts


def _letters(column: int) -> str:
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
