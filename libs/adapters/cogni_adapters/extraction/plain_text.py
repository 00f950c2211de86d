"""Plain text: paragraphs, with their lines."""

import re
from collections.abc import Iterator
from itertools import chain

from cogni_adapters.extraction.decode import decode
from cogni_adapters.extraction.draft import Draft, Source

_LINE_END = re.compile("\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")


def read(source: Source, draft: Draft) -> None:
    """Each paragraph keeps its line numbers."""
    decoded = decode(source.data)
    if decoded.warning:
        draft.warn(decoded.warning)
    for first, last, text in paragraphs(decoded.text):
        draft.paragraph(text, lines_locator(first, last))


def paragraphs(text: str) -> Iterator[tuple[int, int, str]]:
    """Runs of lines between blank ones: first line, last line (from 1), text."""
    lines: list[str] = []
    number = at = 0
    for number, end in enumerate(chain(_LINE_END.finditer(text), (None,)), start=1):
        line = text[at : end.start() if end else len(text)]
        at = end.end() if end else len(text)
        if line.strip():
            lines.append(line)
        elif lines:
            yield number - len(lines), number - 1, "\n".join(lines)
            lines = []
    if lines:
        yield number - len(lines) + 1, number, "\n".join(lines)


def lines_locator(first: int, last: int) -> str:
    """`line 3`, or `lines 3-7`."""
    return f"line {first}" if first == last else f"lines {first}-{last}"
