"""OpenDocument: texts, sheets and slides, from their XML."""

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.csv_table import is_header
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.grid import Cells, aligned, locate
from cogni_adapters.extraction.links import with_address
from cogni_adapters.extraction.ooxml import Package, attribute, local_name
from cogni_adapters.extraction.refusal import NotExtractedError
from cogni_domain.knowledge.extracted import Reason

MAX_REPEATED = 1_000
MAX_LEVEL = 9

_SPACES = re.compile(r"[ \t\r\n]+")
_IGNORED = frozenset(
    ("annotation-end", "tracked-changes", "ruby-text", "sequence-decls", "user-field-decls",
     "variable-decls", "forms", "shapes", "desc", "title", "event-listeners", "change-info")
)  # fmt: skip
_NESTED = frozenset(("frame", "text-box", "note", "table"))


def read_text(source: Source, draft: Draft) -> None:
    """Headings, paragraphs, lists and tables in order; footnotes and text boxes after their paragraph."""
    for body in _body(source, draft, "text"):
        _Flow(draft, "").blocks(body)
    draft.title = draft.title or draft.first_heading


def read_sheets(source: Source, draft: Draft) -> None:
    """The cells as they are shown; what is blank is skipped, however often it is repeated."""
    for body in _body(source, draft, "spreadsheet"):
        for table in body:
            if local_name(table) == "table":
                draft.leave_headings()
                name = one_line(attribute(table, "name"))
                rows = list(_rows(table, draft, name))
                header = " | ".join(rows[0].texts) if rows and is_header(rows[0].texts) else ""
                lines = [Row(" | ".join(row.texts), row) for row in rows]
                draft.table(lines, lambda places, name=name: locate(name, places), header)  # type: ignore[misc]


def read_slides(source: Source, draft: Draft) -> None:
    """One section a slide, its title first and its notes last."""
    for body in _body(source, draft, "presentation"):
        pages = [page for page in body if local_name(page) == "page"]
        for number, page in enumerate(pages, start=1):
            _slide(page, f"slide {number}", draft)
    draft.title = draft.title or draft.first_heading


def _body(source: Source, draft: Draft, kind: str) -> Iterator[etree._Element]:
    package = Package(source)
    if package.has("META-INF/manifest.xml"):
        manifest = package.xml("META-INF/manifest.xml")
        if next(manifest.iter("{*}encryption-data"), None) is not None:
            raise NotExtractedError(
                Reason.ENCRYPTED, "A password protects the file: save it without one."
            )
    if package.has("meta.xml"):
        draft.title = _title(package, draft)
    if any(package.has(part) for part in ("Basic/script-lc.xml", "Scripts/python")):
        draft.warn("the file holds macros: they were neither run nor read")
    if not package.has("content.xml"):
        raise NotExtractedError.corrupt("The file has no content: save it again with its program.")
    root = package.xml("content.xml")
    if next(root.iter("{*}annotation"), None) is not None:
        draft.warn("comments were left out")
    for body in root.iter("{*}body"):
        yield from (part for part in body if local_name(part) == kind)


def _title(package: Package, draft: Draft) -> str:
    try:
        titles = package.xml("meta.xml").iter("{http://purl.org/dc/elements/1.1/}title")
        return next((element.text or "" for element in titles), "")
    except NotExtractedError:
        draft.lacks("properties")
        return ""


class _Flow:
    """Blocks one after the other, at one place."""

    def __init__(self, draft: Draft, place: str) -> None:
        self._draft = draft
        self._place = place

    def blocks(self, parent: etree._Element) -> None:
        for element in parent:
            name = local_name(element)
            if name == "h":
                self._heading(element)
            elif name == "p":
                self._paragraph(element)
            elif name == "list":
                self._list(element, 0)
                self._draft.end_list()
            elif name == "table":
                self._table(element)
            elif name not in _IGNORED and name != "annotation":
                self.blocks(element)

    def _heading(self, element: etree._Element) -> None:
        level = attribute(element, "outline-level")
        text = words(element)
        self._draft.heading(min(int(level), MAX_LEVEL) if level.isdigit() else 1, text, self._place)
        self._hanging(element)

    def _paragraph(self, element: etree._Element) -> None:
        self._draft.paragraph(words(element), self._place)
        self._hanging(element)

    def _list(self, element: etree._Element, depth: int) -> None:
        for item in element:
            for child in item:
                if local_name(child) == "list":
                    self._list(child, depth + 1)
                elif local_name(child) in ("p", "h"):
                    self._draft.item(words(child), min(depth, MAX_LEVEL), self._place)

    def _table(self, element: etree._Element) -> None:
        rows: list[Row[None]] = []
        inner: list[etree._Element] = []
        first: Sequence[str] = ()
        for row in _rows_of(element):
            cells = [cell for cell in row if local_name(cell) == "table-cell"]
            texts = [_cell_text(cell) for cell in cells]
            first = first or texts
            rows.append(Row(" | ".join(texts), None))
            inner += [t for c in cells for t in c.iter("{*}table") if t.getparent() is c]
        header = rows[0].text if rows and is_header(first) else ""
        self._draft.table(rows, lambda _: self._place, header)
        for table in inner:
            self._table(table)

    def _hanging(self, element: etree._Element) -> None:
        """Read the notes and text boxes that are anchored in a paragraph."""
        for child in element:
            name = local_name(child)
            if name == "note":
                for body in child.iter("{*}note-body"):
                    text = " ".join(words(p) for p in body.iter("{*}p"))
                    self._draft.paragraph(text, _note_place(child))
            elif name in ("frame", "text-box", "custom-shape"):
                self.blocks(child)
            elif name not in _IGNORED and name != "annotation":
                self._hanging(child)


def _note_place(note: etree._Element) -> str:
    kind = attribute(note, "note-class") or "footnote"
    number = next((c.text or "" for c in note if local_name(c) == "note-citation"), "")
    return one_line(f"{kind} {number}")


def _slide(page: etree._Element, place: str, draft: Draft) -> None:
    draft.leave_headings()
    frames = [frame for frame in page if local_name(frame) not in _IGNORED]
    titles = [frame for frame in frames if attribute(frame, "class") == "title"]
    for frame in titles:
        draft.heading(1, " ".join(words(p) for p in frame.iter("{*}p", "{*}h")), place)
    flow = _Flow(draft, place)
    for frame in frames:
        if local_name(frame) == "notes":
            _Flow(draft, f"{place} notes").blocks(frame)
        elif frame not in titles:
            flow.blocks(frame)
            if local_name(frame) in ("p", "h"):
                draft.paragraph(words(frame), place)


def words(paragraph: etree._Element) -> str:
    """Return what a paragraph says, with the addresses of its links; without notes, boxes and comments."""
    return "".join(_pieces(paragraph)).strip()


def _pieces(element: etree._Element) -> Iterator[str]:
    yield _SPACES.sub(" ", element.text or "")
    for child in element:
        name = local_name(child)
        if name == "s":
            count = attribute(child, "c")
            yield " " * (min(int(count), 100) if count.isdigit() else 1)
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n"
        elif name == "a":
            yield with_address("".join(_pieces(child)), attribute(child, "href"))
        elif name and name not in _IGNORED and name not in _NESTED and name != "annotation":
            yield from _pieces(child)
        yield _SPACES.sub(" ", child.tail or "")


def _cell_text(cell: etree._Element) -> str:
    texts = [words(p) for p in cell.iter("{*}p", "{*}h") if not _is_in_comment(p, cell)]
    return one_line(" ".join(texts))


def _is_in_comment(paragraph: etree._Element, cell: etree._Element) -> bool:
    """Tell whether it belongs to a comment, or to a table inside the cell, which is read by itself."""
    above = paragraph.getparent()
    while above is not None and above is not cell:
        if local_name(above) in ("annotation", "table"):
            return True
        above = above.getparent()
    return False


def _rows_of(table: etree._Element) -> Iterator[etree._Element]:
    for element in table:
        name = local_name(element)
        if name == "table-row":
            yield element
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows_of(element)


def _rows(table: etree._Element, draft: Draft, sheet: str) -> Iterator[Cells]:
    number = 1
    for row in _rows_of(table):
        repeated = _repeated(row, "number-rows-repeated")
        cells = _filled(row)
        if cells and repeated > MAX_REPEATED:
            draft.lacks(f"rows of sheet {sheet} that are repeated more than {MAX_REPEATED} times")
        for offset in range(min(repeated, MAX_REPEATED) if cells else 0):
            yield Cells(number + offset, cells[0][0], aligned(cells))
        number += repeated


def _filled(row: etree._Element) -> list[tuple[int, str]]:
    """Return column and text of each cell of a row that shows something."""
    found: list[tuple[int, str]] = []
    column = 1
    for cell in row:
        if local_name(cell) not in ("table-cell", "covered-table-cell"):
            continue
        repeated = _repeated(cell, "number-columns-repeated")
        if local_name(cell) == "table-cell" and (text := _cell_text(cell)):
            found += [(column + n, text) for n in range(min(repeated, MAX_REPEATED))]
        column += repeated
    return found


def _repeated(element: etree._Element, name: str) -> int:
    count = attribute(element, name)
    return max(int(count), 1) if count.isdigit() and len(count) < 9 else 1
