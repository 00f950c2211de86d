"""Rows of a table that a page draws column by column, or in no order at all."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from cogni_adapters.extraction.pdf_page import Line

_SAME_ROW = 2.0
_CELL_CHARACTERS = 45
_LETTER_WIDTH = 0.5


def scattered_rows(pieces: Sequence[Line]) -> list[list[str]]:
    """Cells by row, from top to bottom and left to right; none for a page that is drawn in order.

    In order, a page goes up only where a column of text ends. One that goes up again and again draws
    cells, and so does one of three or more columns of short pieces at the same heights.
    """
    if len(pieces) < 9 or median(len(piece.text.strip()) for piece in pieces) > _CELL_CHARACTERS:
        return []
    if not (_goes_up_often(pieces) or _has_level_columns(pieces)):
        return []
    return [_cells(row) for row in _rows(pieces)]


def _goes_up_often(pieces: Sequence[Line]) -> bool:
    ups = sum(_height(after) > _height(before) + before.size for before, after in pairwise(pieces))
    return ups >= max(5, len(pieces) // 20)


def _has_level_columns(pieces: Sequence[Line]) -> bool:
    columns: list[list[Line]] = []
    for piece in pieces:
        if columns and _height(piece) < _height(columns[-1][-1]) - _SAME_ROW:
            columns[-1].append(piece)
        else:
            columns.append([piece])
    tall = [column for column in columns if len(column) >= 3]
    if len(tall) < 3:
        return False
    heights = {round(_height(piece)) for piece in tall[0]}
    beside = [round(_height(piece)) for column in tall[1:] for piece in column]
    level = sum(not heights.isdisjoint((height - 1, height, height + 1)) for height in beside)
    return level >= 0.6 * len(beside)


def _rows(pieces: Sequence[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda entry: -_height(entry)):
        if rows and _height(rows[-1][0]) - _height(piece) <= _SAME_ROW:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda entry: entry.x) for row in rows]


def _cells(row: Sequence[Line]) -> list[str]:
    """Texts of a row; pieces that touch are one cell. Widths are estimated from the letters."""
    cells: list[str] = []
    end = 0.0
    for piece in row:
        text = piece.text.strip()
        if cells and piece.x - end < piece.size:
            cells[-1] += f" {text}"
        else:
            cells.append(text)
        end = piece.x + len(text) * piece.size * _LETTER_WIDTH
    return cells


def _height(piece: Line) -> float:
    return piece.y or 0.0
