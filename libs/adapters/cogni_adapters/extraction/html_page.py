"""HTML: what a reader of the page sees, in its order, without navigation and scripts."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.csv_table import is_header
from cogni_adapters.extraction.decode import decode
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.links import with_address

_CDATA_START, _CDATA_END = "<![CDATA[", "]]>"
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_XML_ENCODING = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]+)""", re.I)
_DROPPED = frozenset(
    ("script", "style", "nav", "noscript", "template", "iframe", "object", "svg", "canvas", "head",
     "button", "select", "input", "textarea", "dialog", "ac:parameter")
)  # fmt: skip
_BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt",
     "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "main",
     "p", "section", "summary", "ac:rich-text-body", "ac:structured-macro", "ac:layout-cell")
)  # fmt: skip
_CODE = frozenset(("pre", "ac:plain-text-body", "listing", "xmp"))
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_HEADING = re.compile("h[1-6]")
_HIDING_STYLE = re.compile(
    r"display:none|visibility:hidden|opacity:0(?:\.0+)?(?:;|$)|font-size:(?:0|1px|0?\.\d+(?:px|em|rem))"
    r"|(?<![-\w])color:(?:transparent|#fff(?:fff)?\b|white\b)(?!.*background)"
)
_LINE_ENDING = _BLOCKS | _CODE | _LISTS | {"li", "br", "tr", "td", "th", "table"}
_MAX_DEPTH = 200


def read(source: Source, draft: Draft) -> None:
    """The encoding is what a byte order mark says, before what the page declares."""
    head = source.data[:4096]
    declared = _META_CHARSET.search(head) or _XML_ENCODING.search(head)
    decoded = decode(source.data, declared[1].decode("ascii") if declared else None)
    if decoded.warning:
        draft.warn(decoded.warning)
    add_html(decoded.text, draft, "")
    if not draft.title:
        draft.title = draft.first_heading


def add_html(text: str, draft: Draft, locator: str) -> None:
    """Add a page or a fragment; CDATA, which HTML parsers drop, is kept as the text that it is."""
    tree = LexborHTMLParser("".join(_unwrap_cdata(text)))
    if not draft.title and (title := tree.css_first("head > title")) is not None:
        draft.title = one_line(title.text())
    if tree.root is not None:
        walker = _Walker(draft, locator)
        walker.visit(tree.root)
        walker.end_paragraph()
        draft.end_list()


def _unwrap_cdata(text: str) -> Iterator[str]:
    at = 0
    while (start := text.find(_CDATA_START, at)) >= 0:
        end = text.find(_CDATA_END, start)
        if end < 0:
            break
        yield text[at:start]
        yield escape(text[start + len(_CDATA_START) : end])
        at = end + len(_CDATA_END)
    yield text[at:]


class _Walker:
    """Gathers inline text until something that stands on a line of its own."""

    def __init__(self, draft: Draft, locator: str) -> None:
        self._draft = draft
        self._locator = locator
        self._text: list[str] = []
        self._lists = 0
        self._depth = 0

    def visit(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._text.append(re.sub(r"\s+", " ", node.text_content or ""))
            return
        if _is_dropped(node):
            if _is_hidden(node.attributes):
                self._draft.warn("text that the page hides was left out")
            return
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._text.append(node.text(separator=" "))
        else:
            self._element(tag, node)
        self._depth -= 1

    def end_paragraph(self) -> None:
        text = "\n".join(one_line(line) for line in "".join(self._text).split("\n")).strip()
        self._text = []
        if not text:
            return
        if self._lists:
            self._draft.item(text, self._lists - 1, self._locator)
        else:
            self._draft.paragraph(text, self._locator)

    def _element(self, tag: str, node: LexborNode) -> None:
        if handler := self._handler(tag):
            handler(node)
        elif tag in _BLOCKS or tag == "li":
            self.end_paragraph()
            self._children(node)
            self.end_paragraph()
        elif tag == "br":
            self._text.append("\n")
        elif tag == "a":
            start = len(self._text)
            self._children(node)
            self._text[start:] = [
                with_address("".join(self._text[start:]), node.attributes.get("href") or "")
            ]
        else:
            self._children(node)

    def _handler(self, tag: str) -> Callable[[LexborNode], None] | None:
        if _HEADING.fullmatch(tag):
            return self._heading
        if tag in _CODE:
            return self._code
        if tag in _LISTS:
            return self._list
        return self._table if tag == "table" else None

    def _children(self, node: LexborNode) -> None:
        child = node.child
        while child is not None:
            self.visit(child)
            child = child.next

    def _heading(self, node: LexborNode) -> None:
        self.end_paragraph()
        self._draft.heading(int((node.tag or "h6")[1]), _flat_text(node), self._locator)

    def _code(self, node: LexborNode) -> None:
        self.end_paragraph()
        self._draft.code(node.text(), self._locator)

    def _list(self, node: LexborNode) -> None:
        self.end_paragraph()
        self._lists += 1
        self._children(node)
        self.end_paragraph()
        self._lists -= 1
        if not self._lists:
            self._draft.end_list()

    def _table(self, node: LexborNode) -> None:
        self.end_paragraph()
        if any(inner.tag == "table" for inner in node.css("table") if inner.mem_id != node.mem_id):
            self._children(node)
            return
        rows = [[_flat_text(cell) for cell in row.css("th, td")] for row in node.css("tr")]
        lines = [Row(" | ".join(cells), number) for number, cells in enumerate(rows)]
        has_header = bool(rows) and (node.css_first("th") is not None or is_header(rows[0]))
        if (caption := node.css_first("caption")) is not None:
            self._draft.paragraph(caption.text(), self._locator)
        self._draft.table(lines, lambda _: self._locator, lines[0].text if has_header else "")


def _flat_text(node: LexborNode) -> str:
    """The text of a cell or a heading, on one line."""
    return one_line("".join(_flatten(node, 0)))


def _flatten(node: LexborNode, depth: int) -> Iterator[str]:
    child = node.child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            yield child.text_content or ""
        elif not _is_dropped(child) and depth < _MAX_DEPTH:
            text = "".join(_flatten(child, depth + 1))
            if tag == "a":
                yield with_address(text, child.attributes.get("href") or "")
            else:
                yield f" {text} " if tag in _LINE_ENDING else text
        child = child.next


def _is_dropped(node: LexborNode) -> bool:
    tag = node.tag or ""
    return tag in _DROPPED or tag in ("-comment", "!doctype") or _is_hidden(node.attributes)


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    if not attributes:
        return False
    style = (attributes.get("style") or "").lower().replace(" ", "")
    return "hidden" in attributes or bool(style and _HIDING_STYLE.search(style))
