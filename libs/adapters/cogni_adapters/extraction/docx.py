"""Word: paragraphs, headings, lists and tables in order, wherever the file nests them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.csv_table import is_header
from cogni_adapters.extraction.docx_styles import ParagraphStyles
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.links import with_address
from cogni_adapters.extraction.ooxml import (
    Package,
    Relation,
    attach_embedded,
    attribute,
    local_name,
    warn_of_macros,
)
from cogni_adapters.extraction.refusal import NotExtractedError

_IGNORED = frozenset(
    ("pPr", "rPr", "tblPr", "tcPr", "trPr", "sdtPr", "sectPr", "del", "moveFrom", "instrText", "delText",
     "rt", "Fallback", "fldData")
)  # fmt: skip
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}


def read(source: Source, draft: Draft) -> None:
    """Body first; foot- and endnotes follow their paragraph, headers and footers end the document."""
    package = Package(source)
    draft.title = package.title()
    warn_of_macros(package, draft)
    if any(package.related(package.main, "comments")):
        draft.warn("comments were left out")
    _Body(package, draft).read()
    attach_embedded(package, package.main, draft)
    if not draft.title:
        draft.title = draft.first_heading


@dataclass
class _Text:
    """What one paragraph says, and what hangs on it.

    Attributes:
        notes: (kind, id) of the foot- and endnotes it refers to.
        boxes: Text boxes anchored in it.
    """

    parts: list[str]
    notes: list[tuple[str, str]]
    boxes: list[etree._Element]


class _Body:
    def __init__(self, package: Package, draft: Draft) -> None:
        self._package = package
        self._draft = draft
        self._relations: Mapping[str, Relation] = package.relations(package.main)
        self._styles = ParagraphStyles(self._optional("styles"))
        self._notes = {
            (kind, attribute(note, "id")): note
            for kind in ("footnotes", "endnotes")
            for note in self._optional(kind)
            if not attribute(note, "type")
        }

    def read(self) -> None:
        for body in self._package.xml(self._package.main).iter("{*}body"):
            self._blocks(body)
        self._draft.leave_headings()
        seen: set[str] = set()
        for kind in ("header", "footer"):
            for part in self._package.related(self._package.main, kind):
                self._margin(part, kind, seen)

    def _optional(self, kind: str) -> Sequence[etree._Element]:
        """Children of a part that the text can do without; a damaged one is missing, not fatal."""
        try:
            return [
                child
                for part in self._package.related(self._package.main, kind)
                for child in self._package.xml(part)
            ]
        except NotExtractedError:
            self._draft.lacks(kind)
            return []

    def _margin(self, part: str, kind: str, seen: set[str]) -> None:
        """Headers and footers once each, at the end, however many sections repeat them."""
        try:
            paragraphs = [self._text(element) for element in self._package.xml(part).iter("{*}p")]
        except NotExtractedError:
            self._draft.lacks(kind)
            return
        for text in paragraphs:
            line = one_line("".join(text.parts))
            if line not in seen and not line.isdigit():
                seen.add(line)
                self._draft.paragraph(line, kind)

    def _blocks(self, parent: etree._Element) -> None:
        for element in parent:
            name = local_name(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name not in _IGNORED:
                self._blocks(element)

    def _paragraph(self, element: etree._Element) -> None:
        text = self._text(element)
        words = "".join(text.parts)
        style = self._styles.of(element)
        if style.heading is not None:
            self._draft.heading(style.heading, words)
        elif style.list_depth is not None:
            self._draft.item(words, style.list_depth)
        elif words.strip():
            self._draft.paragraph(words)
        for box in text.boxes:
            self._blocks(box)
        self._note_paragraphs(text)

    def _note_paragraphs(self, text: _Text) -> None:
        for kind, number in text.notes:
            if (note := self._notes.get((kind, number))) is not None:
                words = " ".join("".join(self._text(p).parts) for p in note.iter("{*}p"))
                self._draft.paragraph(words, f"{kind.removesuffix('s')} {number}")

    def _table(self, table: etree._Element) -> None:
        """A table inside a cell follows the one around it."""
        inner: list[_Text] = []
        rows = []
        for row in _direct(table, "tr"):
            cells = []
            for cell in _direct(row, "tc"):
                texts = [self._text(p) for p in _direct(cell, "p")]
                inner.extend(texts)
                cells.append(one_line(" ".join("".join(text.parts) for text in texts)))
            rows.append(Row(" | ".join(cells), cells))
        header = rows[0].text if rows and is_header(rows[0].place) else ""
        self._draft.table(rows, lambda _: "", header)
        for text in inner:
            for box in text.boxes:
                self._blocks(box)
            self._note_paragraphs(text)
        for row in _direct(table, "tr"):
            for cell in _direct(row, "tc"):
                for nested in _direct(cell, "tbl"):
                    self._table(nested)

    def _text(self, paragraph: etree._Element) -> _Text:
        text = _Text([], [], [])
        self._gather(paragraph, text)
        return text

    def _gather(self, parent: etree._Element, text: _Text) -> None:
        for element in parent:
            name = local_name(element)
            if name in _IGNORED:
                continue
            if name == "t":
                text.parts.append(element.text or "")
            elif name in _SIGNS:
                text.parts.append(_SIGNS[name])
            elif name in _NOTES:
                text.notes.append((_NOTES[name], attribute(element, "id")))
            elif name == "txbxContent":
                text.boxes.append(element)
            elif name == "r" and _is_hidden(element):
                self._draft.warn("text that the document hides was left out")
            elif name == "hyperlink":
                self._link(element, text)
            else:
                self._gather(element, text)

    def _link(self, element: etree._Element, text: _Text) -> None:
        start = len(text.parts)
        self._gather(element, text)
        relation = self._relations.get(attribute(element, "id"))
        if relation is not None and relation.is_external:
            text.parts[start:] = [with_address("".join(text.parts[start:]), relation.target)]


def _direct(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """Children of one name, also inside content controls and insertions, but not inside other tables."""
    for element in parent:
        found = local_name(element)
        if found == name:
            yield element
        elif found in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            yield from _direct(element, name)


def _is_hidden(run: etree._Element) -> bool:
    for properties in run:
        if local_name(properties) == "rPr":
            return any(
                local_name(element) == "vanish"
                and attribute(element, "val") not in ("0", "false", "off")
                for element in properties
            )
    return False
