"""Cutting a text that is too long for one passage, at the best place there is."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import TypeAlias

from cogni_domain.knowledge.passage_size import hundredths
from cogni_domain.knowledge.sentences import sentence_spans

Span: TypeAlias = tuple[int, int]
Splitter: TypeAlias = Callable[[str], Iterable[Span]]

_LINE = re.compile("[^\n]+")
_CLAUSE = re.compile(r"(?:[^;:,，；、：،]|[;:,](?!\s))+[;:,，；、：،]*|[;:,，；、：،]+")
_WORD = re.compile(r"\S+")
_CHARACTERS = 8
_HEADER_SHARE = 3
ROW_FACTOR = 3
"""A row is whole up to this many times the limit."""


def cut(text: str, limit: int, overlap: int = 0, *, by_line: bool = False) -> list[Span]:
    """Return where the parts of `text`, which is not blank, begin and end, each of at most `limit` hundredths.

    The parts are about even. They end between sentences, or lines; where one is too long alone, between
    clauses, words, and in the end characters. Every part after the first repeats what came before it, as
    far as whole sentences fit into `overlap`.
    """
    splitters = (
        _spans(_LINE) if by_line else sentence_spans,
        _spans(_CLAUSE),
        _spans(_WORD),
        _runs,
    )
    atoms = list(_atoms(text, (0, len(text)), limit - overlap, splitters))
    fewest = _filled(text, atoms, limit, overlap)
    return _filled(text, atoms, limit, overlap, hundredths(text) / len(fewest))


def cut_rows(text: str, limit: int) -> list[tuple[str, Span]]:
    """Return the parts of a table, and where their lines, counted from 0, begin and end.

    Each part begins with the header, the first line, unless that is too long to be repeated. No row is
    severed that fits in `ROW_FACTOR` times the limit.
    """
    rows = text.split("\n")
    header = rows[0]
    repeated = hundredths(header) <= limit // _HEADER_SHARE and len(rows) > 1
    room = limit - hundredths(header) if repeated else limit
    parts: list[tuple[str, Span]] = []
    costs = [hundredths(row) for row in rows]
    start = 1 if repeated else 0
    fewest = len(list(_runs_of_rows(costs, start, room)))
    for first, last in _runs_of_rows(costs, start, room, sum(costs[start:]) / fewest):
        body = "\n".join(rows[first:last])
        for piece in _severed(body, room):
            whole = f"{header}\n{piece}" if repeated else piece
            parts.append((whole, (0 if first == 1 and repeated else first, last - 1)))
    return parts


def _severed(body: str, room: int) -> Iterator[str]:
    if hundredths(body) <= ROW_FACTOR * room:
        yield body
        return
    for start, end in cut(body, room):
        yield body[start:end]


def _runs_of_rows(
    costs: Sequence[int], start: int, room: int, share: float = inf
) -> Iterator[Span]:
    """Yield from which row to which a part goes: as many as fit or are its share, at least one."""
    begun, size, passed, parts = start, 0, 0, 1
    for at in range(start, len(costs)):
        if at > begun and (passed >= share * parts or size + costs[at] > room):
            yield begun, at
            begun, size, parts = at, 0, parts + 1
        size += costs[at]
        passed += costs[at]
    yield begun, len(costs)


def _atoms(text: str, span: Span, limit: int, splitters: Sequence[Splitter]) -> Iterator[Span]:
    """Yield spans of at most `limit`, as coarse as they can be."""
    split, *finer = splitters
    start, end = span
    for begun, ended in split(text[start:end]):
        part = (start + begun, start + ended)
        if not finer or hundredths(text[part[0] : part[1]]) <= limit:
            yield part
        else:
            yield from _atoms(text, part, limit, finer)


def _filled(
    text: str, atoms: Sequence[Span], limit: int, overlap: int, share: float = inf
) -> list[Span]:
    """Fill parts with atoms, each to the limit, or to its share of the whole."""
    parts: list[Span] = []
    begun, fresh, passed = (
        0,
        0,
        0,
    )  # a part's first atom, how many only it has, and the size up to here
    for at, (start, end) in enumerate(atoms):
        is_full = hundredths(text[atoms[begun][0] : end]) > limit
        if fresh and (is_full or passed >= share * (len(parts) + 1)):
            parts.append((atoms[begun][0], atoms[at - 1][1]))
            begun, fresh = _repeated_from(text, atoms, at, overlap), 0
        fresh += 1
        passed += hundredths(text[start:end])
    return [*parts, (atoms[begun][0], atoms[-1][1])]


def _repeated_from(text: str, atoms: Sequence[Span], at: int, overlap: int) -> int:
    """Return the first atom before `at` from which everything fits into `overlap`; `at` itself where none."""
    first = at
    while first and hundredths(text[atoms[first - 1][0] : atoms[at][0]]) <= overlap:
        first -= 1
    return first


def _spans(pattern: re.Pattern[str]) -> Splitter:
    def split(text: str) -> Iterator[Span]:
        for found in pattern.finditer(text):
            part = found[0].strip()
            if part:
                start = found.start() + found[0].index(part)
                yield start, start + len(part)

    return split


def _runs(text: str) -> Iterator[Span]:
    """Yield a few characters at a time, no mark without its letter unless there are too many of them."""
    start = 0
    while start < len(text):
        end = most = start + _CHARACTERS
        most += _CHARACTERS
        while end < min(most, len(text)) and _belongs_before(text[end]):
            end += 1
        yield start, min(end, len(text))
        start = end


def _belongs_before(char: str) -> bool:
    return char == "\u200d" or unicodedata.category(char) in ("Mn", "Mc", "Me")
