"""A passage as the sentences that can be quoted from it, in its own words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cogni_domain.knowledge.sentences import sentences

MAX_CHARACTERS = 20_000
"""Read of one text: a passage is far shorter, and a tool's result is not read to its end."""
LEAST_WORDS = 3
"""Of what has no stop at its end; less is a name or a number alone."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"\s*(?:=+|-+)\s*")
_ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)]|[a-z][.)])\s+(?=\S)")
_RULE_ROW = re.compile(r"[\s|:+=-]+")
_DELIMITERS = ("|", "\t", ";", ",")
_LONGEST_CELL = 200

_MARKS = (
    (re.compile(r"!\[[^\[\]]{0,300}\]\([^()]{0,1000}\)"), ""),
    (re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{0,1000}(?:\s+\"[^\"]{0,300}\")?\)"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)([^*_]{1,400})(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]{1,400})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_(?=[^\s_])([^_]{1,400})(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"`([^`]{1,400})`"), r"\1"),
    (re.compile(r"^(?:>\s*)+"), ""),
    (re.compile(r"[\[［]{1,2}\s?(?:s\d{1,9}|[A-Za-z]{1,16}:[a-z]\d{1,9})\s?[\]］]{1,2}"), ""),
    (re.compile(r"\s+"), " "),
)
_STOP = re.compile(r"[.!?…؟।。！？][”’»)\]\"'」』）]*$")
_WORD = re.compile(r"[\u3000-\u9fff]{2}|[^\W\u3000-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something that can be quoted. `is_row` where it is a row of a table, under the table's header."""

    text: str
    is_row: bool = False


def quotable_sentences(text: str) -> list[Sentence]:
    """Return what a passage says, sentence by sentence, without Markdown's marks.

    Headings are left out. A list item is a sentence, led by the line that announces the list; a row of a
    table is one, each cell under its head. What looks like a handle or a marker is not repeated.
    """
    return [
        sentence
        for block in _BLANK_LINE.split(_with_announcements(text[:MAX_CHARACTERS]))
        for sentence in _of_block(block.strip("\n"))
        if sentence.is_row or _says_something(sentence.text)
    ]


def _says_something(text: str) -> bool:
    if not any(map(str.isalnum, text)):
        return False
    return len(_WORD.findall(text)) >= LEAST_WORDS or _STOP.search(text) is not None


def _of_block(block: str) -> Iterator[Sentence]:
    lines = [line for line in block.split("\n") if line.strip()]
    if lines and _HEADING.match(lines[0]):
        lines = lines[1:]
    elif len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]):
        lines = lines[2:]
    rows = _rows(lines)
    if rows:
        yield from (Sentence(row, is_row=True) for row in rows)
        return
    for unit in _units(lines):
        yield from map(Sentence, sentences(plain(unit)))


def _with_announcements(text: str) -> str:
    """Close the gap between a line that ends in a colon and its list."""
    return re.sub(r":[ \t]*\n[ \t]*\n(?=\s*(?:[-*+•]|\d{1,3}[.)])\s)", ":\n", text)


def _units(lines: Sequence[str]) -> Iterator[str]:
    """Join lines that were only wrapped; items stand alone, after what announces them."""
    announced, current = "", ""
    for line in lines:
        item = _ITEM.match(line)
        if item is None and current:
            current += " " + line.strip()
            continue
        if current:
            if item and not announced and current.rstrip().endswith(":"):
                announced = current + " "
            else:
                yield current
        current = announced + line[item.end() :] if item else line.strip()
    if current:
        yield current


def _rows(lines: Sequence[str]) -> list[str]:
    """Return the rows of a table as sentences; empty where the lines are no table."""
    for delimiter in _DELIMITERS:
        cells = [_cells(line, delimiter) for line in lines if not _is_rule(line)]
        if len(cells) < 2 or len(cells[0]) < 2 or len({len(row) for row in cells}) > 1:
            continue
        if delimiter == "|" or _is_data(cells):
            head, *rest = cells
            return [_row(head, row) for row in rest]
    return []


def _is_rule(line: str) -> bool:
    return "-" in line and _RULE_ROW.fullmatch(line) is not None


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == "|":
        line = line.strip().removeprefix("|").removesuffix("|")
    return [plain(cell) for cell in line.split(delimiter)]


def _is_data(cells: Sequence[Sequence[str]]) -> bool:
    """Tell columns from prose that happens to have as many commas in each line."""
    ends = sum(row[-1].endswith((".", ":", ",")) for row in cells)
    longest = max(len(cell) for row in cells for cell in row)
    return ends == 0 and longest <= _LONGEST_CELL and len(cells[0]) >= 2


def _row(head: Sequence[str], row: Sequence[str]) -> str:
    named = (
        f"{name}: {cell}" if name else cell for name, cell in zip(head, row, strict=True) if cell
    )
    return "; ".join(named)


def plain(text: str) -> str:
    """Return one line of text without Markdown's marks, and without what looks like a handle or a marker."""
    text = text.strip()
    for mark, kept in _MARKS:
        text = mark.sub(kept, text)
    return text.strip()
