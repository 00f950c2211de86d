"""DokuWiki's own text as blocks. The source is read, never a rendering: that would hold what a page includes."""

import re
from collections.abc import Iterator, Sequence

from cogni_domain.knowledge.extracted import Block, BlockKind

_HEADING = re.compile(r"\s*(={2,6})[ \t]*(.+?)[ \t]*={2,}\s*")
_FENCE = re.compile(r"<(code|file)\b[^>]*>(.*?)</\1>|<(nowiki)>(.*?)</nowiki>", re.DOTALL)
_LINK = re.compile(r"\[\[([^\]|]+)(?:\|([^\]]*))?\]\]")
_MEDIA = re.compile(r"\{\{([^}|]*)(?:\|([^}]*))?\}\}")
_MARKS = re.compile(r"(\w+://\S+)|\*\*|//|__|''|\\\\(?=\s|$)|</?(?:sub|sup|del)>")
_FOOTNOTE = re.compile(r"\(\((.*?)\)\)")
_LIST = re.compile(r"(?: {2,}|\t)[*-]")
_INDENTED = re.compile(r"(?: {2,}|\t)(?![*-])\S")
_HIGHEST = 6


def blocks_of(text: str) -> tuple[Block, ...]:
    """Return a page's text as blocks, each under its headings."""
    above: dict[int, str] = {}
    found: list[Block] = []
    for kind, piece in _pieces(text):
        shown = piece.strip("\n") if kind is BlockKind.CODE else _plain(piece)
        if kind is BlockKind.HEADING:
            marks, _, shown = shown.partition(" ")
            level = _HIGHEST - len(marks)
            above = {at: name for at, name in above.items() if at < level} | {level: shown}
        if shown.strip():
            found.append(Block(kind, shown, tuple(above[at] for at in sorted(above))))
    return tuple(found)


def title_of(blocks: Sequence[Block], otherwise: str) -> str:
    """Return a page's first heading; another name where it has none."""
    return next((b.text for b in blocks if b.kind is BlockKind.HEADING), otherwise)


def _pieces(text: str) -> Iterator[tuple[BlockKind, str]]:
    """Yield a page's pieces; a heading's is its marks on the left, a blank and its text."""
    end = 0
    for fence in _FENCE.finditer(text):
        yield from _paragraphs(text[end : fence.start()])
        kind = BlockKind.CODE if fence[1] else BlockKind.PARAGRAPH
        yield kind, fence[2] if fence[1] else fence[4]
        end = fence.end()
    yield from _paragraphs(text[end:])


def _paragraphs(text: str) -> Iterator[tuple[BlockKind, str]]:
    kind, lines = BlockKind.PARAGRAPH, list[str]()
    for line in [*text.splitlines(), ""]:
        heading = _HEADING.fullmatch(line)
        now = BlockKind.HEADING if heading else _kind(line)
        if lines and (now is not kind or not line.strip()):
            yield kind, "\n".join(lines)
            lines = []
        if heading:
            yield BlockKind.HEADING, f"{heading[1]} {heading[2]}"
        elif line.strip():
            kind = now
            lines.append(_row(line) if now is BlockKind.TABLE else line)


def _kind(line: str) -> BlockKind:
    if _LIST.match(line):
        return BlockKind.LIST
    if line.startswith(("|", "^")):
        return BlockKind.TABLE
    return BlockKind.CODE if _INDENTED.match(line) else BlockKind.PARAGRAPH


def _row(line: str) -> str:
    """Return a table's row with its cells parted as everywhere; a bar within a link parts nothing."""
    whole = _LINK.sub(lambda link: link[2] or link[1], line)
    return " | ".join(cell.strip() for cell in re.split(r"[|^]", whole)[1:-1])


def _plain(text: str) -> str:
    text = _LINK.sub(lambda link: link[2] or link[1], text)
    text = _MEDIA.sub(lambda media: media[2] or "", text)
    text = _FOOTNOTE.sub(r" (\1)", text)
    return _MARKS.sub(lambda mark: mark[1] or "", text).strip()
