"""Delimited text: one table, cells parted as the file parts them."""

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import chain

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.decode import decode
from cogni_adapters.extraction.draft import Draft, Row, Source

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_NUMBER = re.compile(r"[-+$€£(]*\d[\d.,:/ %)-]*")


def read(source: Source, draft: Draft) -> None:
    """Cells stay parted by the file's own delimiter, so that a row reads as it does in the file."""
    decoded = decode(source.data)
    if decoded.warning:
        draft.warn(decoded.warning)
    text = decoded.text.replace("\x00", "")
    delimiter = _delimiter(text)
    csv.field_size_limit(len(source.data) + 1)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    rows = _rows(reader, delimiter)
    first = next(rows, None)
    if first is None:
        return
    header = first[1].text if is_header(first[0]) else ""
    draft.table(chain((first[1],), (row for _, row in rows)), _locate, header)


def is_header(cells: Sequence[str]) -> bool:
    """Whether a first row names columns: at least two cells, each a different text without a number."""
    named = [cell.strip() for cell in cells if cell.strip()]
    return (
        len(named) > 1
        and len(set(named)) == len(named)
        and not any(_NUMBER.fullmatch(cell) for cell in named)
    )


def _rows(
    reader: "Iterator[list[str]]", delimiter: str
) -> Iterator[tuple[Sequence[str], Row[int]]]:
    for number, cells in enumerate(reader, start=1):
        yield cells, Row(delimiter.join(_cell(cell, delimiter) for cell in cells), number)


def _cell(text: str, delimiter: str) -> str:
    text = one_line(text)
    return '"' + text.replace('"', '""') + '"' if delimiter in text else text


def _locate(numbers: Sequence[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return f"row {first}" if first == last else f"rows {first}-{last}"


def _delimiter(text: str) -> str:
    """The one that parts the first lines most evenly; a comma if none does."""
    lines = [line for line in text[:100_000].splitlines()[:_SAMPLE_LINES] if line.strip()]

    def evenness(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in lines]
        most = max(set(counts), key=counts.count, default=0)
        return (counts.count(most) if most else 0, most)

    best = max(_DELIMITERS, key=evenness, default=",")
    return best if evenness(best)[0] else ","
