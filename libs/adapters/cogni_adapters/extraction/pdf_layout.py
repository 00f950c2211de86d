"""From the lines of a page to headings, paragraphs and tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from cogni_adapters.extraction.csv_table import is_header
from cogni_adapters.extraction.draft import Draft, Row
from cogni_adapters.extraction.pdf_page import Line, PageText
from cogni_adapters.extraction.pdf_rows import scattered_rows

_HEADING_RATIO = 1.15
_HEADING_CHARACTERS = 150
_SAME_LINE = 2.0
_PAGE_NUMBER = re.compile(r"(?:page )?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?", re.I)
_HYPHENATED = re.compile(r"(?<=[^\W\d_]{2})-\n(?=[a-zà-ÿß])")


def body_size(lines: Sequence[Line]) -> float:
    """The height that most letters of a document have; 0 without any."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def heading_levels(lines: Sequence[Line], body: float) -> dict[float, int]:
    """Level by size, the largest first; sizes near the body's are no headings."""
    sizes = {round(line.size, 1) for line in lines if _stands_out(line, body)}
    return {size: level for level, size in enumerate(sorted(sizes, reverse=True), start=1)}


def add_page(
    page: PageText, levels: dict[float, int], body: float, locator: str, draft: Draft
) -> None:
    """Add a page as its rows where it is a table drawn out of order, else as headings and paragraphs."""
    if rows := scattered_rows(page.pieces):
        header = " | ".join(rows[0]) if is_header(rows[0]) else ""
        draft.table([Row(" | ".join(cells), None) for cells in rows], lambda _: locator, header)
        return
    groups = list(_groups(page.lines, body))
    for group in groups:
        at_edge = len(groups) > 1 and group in (groups[0], groups[-1])
        if at_edge and len(group) == 1 and _PAGE_NUMBER.fullmatch(group[0].text):
            continue
        if _stands_out(group[0], body):
            draft.heading(
                levels[round(group[0].size, 1)], " ".join(line.text for line in group), locator
            )
        else:
            text = "\n".join(line.text for line in group)
            draft.paragraph(_HYPHENATED.sub("", text), locator)


def _stands_out(line: Line, body: float) -> bool:
    return (
        line.y is not None
        and body > 0
        and line.size >= body * _HEADING_RATIO
        and len(line.text) <= _HEADING_CHARACTERS
        and any(char.isalpha() for char in line.text)
    )


def _groups(lines: Sequence[Line], body: float) -> Iterator[list[Line]]:
    """Lines that belong together: the same size, and no more apart than lines usually are."""
    steps = [
        before.y - after.y
        for before, after in pairwise(lines)
        if before.y is not None
        and after.y is not None
        and 0 < before.y - after.y < 4 * max(body, 1)
    ]
    usual = median(steps) if steps else 0.0
    group: list[Line] = []
    for line in lines:
        if group and not _continues(group[-1], line, usual, body):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _continues(before: Line, line: Line, usual: float, body: float) -> bool:
    if _stands_out(before, body) != _stands_out(line, body):
        return False
    if _stands_out(line, body) and abs(before.size - line.size) > 0.5:
        return False
    if before.y is None or line.y is None:
        return before.y is line.y
    step = before.y - line.y
    if -_SAME_LINE <= step <= max(usual, line.size) * 1.4:
        return True
    is_new_column = step < 0
    return is_new_column and line.text[:1].islower() and before.text[-1:] not in ".!?:"
