"""Markdown: its tokens as blocks, each with its lines."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from cogni_adapters.extraction.decode import decode
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.html_page import add_html
from cogni_adapters.extraction.links import with_address
from cogni_adapters.extraction.plain_text import lines_locator

_FRONT_MATTER = re.compile(
    r"(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<body>.*?)^(?P=fence)[ \t]*(?:\r?\n|\Z)", re.S | re.M
)
_TITLE = re.compile(r"^title\s*[:=]\s*(?P<title>.+?)\s*$", re.M)
_PARSER = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").enable("strikethrough")


def read(source: Source, draft: Draft) -> None:
    """Front matter is not text; its title is the document's."""
    decoded = decode(source.data)
    if decoded.warning:
        draft.warn(decoded.warning)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    skipped = 0
    if match := _FRONT_MATTER.match(text):
        if title := _TITLE.search(match["body"]):
            draft.title = title["title"].strip("\"'")
        skipped = match[0].count("\n")
        text = text[match.end() :]
    _Reader(draft, skipped).read(_PARSER.parse(text))
    if not draft.title:
        draft.title = draft.first_heading


class _Reader:
    """Walks block tokens; what is inside a list item or a quote belongs to it."""

    def __init__(self, draft: Draft, skipped_lines: int) -> None:
        self._draft = draft
        self._skipped = skipped_lines
        self._depth = 0
        self._in_item = False

    def read(self, tokens: Sequence[Token]) -> None:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                self._table(tokens[at:end])
                at = end
            elif token.type == "heading_open":
                self._draft.heading(int(token.tag[1]), _inline(tokens[at + 1]), self._lines(token))
                at += 2
            else:
                self._one(token)
            at += 1

    def _one(self, token: Token) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            self._depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._depth -= 1
            if not self._depth:
                self._draft.end_list()
        elif token.type == "inline":
            self._text(_inline(token), self._lines(token))
        elif token.type in ("fence", "code_block"):
            self._draft.code(token.content, self._lines(token))
        elif token.type == "html_block":
            add_html(token.content, self._draft, self._lines(token))

    def _text(self, text: str, lines: str) -> None:
        if self._depth:
            self._draft.item(text, self._depth - 1, lines)
        else:
            self._draft.paragraph(text, lines)

    def _table(self, tokens: Sequence[Token]) -> None:
        rows = [Row(" | ".join(cells), line + 1 + self._skipped) for line, cells in _rows(tokens)]
        header = rows[0].text if rows else ""
        self._draft.table(rows, lambda lines: lines_locator(lines[0], lines[-1]), header)

    def _lines(self, token: Token) -> str:
        if token.map is None:
            return ""
        first, end = token.map
        return lines_locator(first + 1 + self._skipped, max(end, first + 1) + self._skipped)


def _rows(tokens: Sequence[Token]) -> Iterator[tuple[int, list[str]]]:
    line = 0
    cells: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            line, cells = (token.map or [line])[0], []
        elif token.type == "inline":
            cells.append(_inline(token))
        elif token.type == "tr_close":
            yield line, cells


def _inline(token: Token) -> str:
    """Text as it is read: no marks, an address after its link's words, tags dropped."""
    parts: list[str] = []
    links: list[tuple[int, str]] = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
        elif child.type == "html_inline" and re.match(r"<br\b", child.content, re.I):
            parts.append("\n")
        elif child.type == "link_open":
            links.append((len(parts), str(child.attrGet("href") or "")))
        elif child.type == "link_close" and links:
            start, address = links.pop()
            words = "".join(parts[start:])
            parts[start:] = [with_address(words, address)]
    return "".join(parts)
