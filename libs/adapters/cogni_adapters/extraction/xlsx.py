"""Excel sheets: the cells that are there, as a person sees them, one row a line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from lxml import etree

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.csv_table import is_header
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.drawing import paragraphs_of
from cogni_adapters.extraction.grid import Cells, aligned, locate
from cogni_adapters.extraction.number_format import BUILT_IN, GENERAL, format_number
from cogni_adapters.extraction.ooxml import (
    DAMAGE,
    Package,
    attach_embedded,
    attribute,
    local_name,
    warn_of_macros,
)
from cogni_adapters.extraction.refusal import NotExtractedError

MAX_SHEETS = 1_000


@dataclass(frozen=True, slots=True)
class _Book:
    """What every sheet refers to.

    Attributes:
        shared: Texts by index.
        formats: Number format codes by cell style.
    """

    shared: Sequence[str] = ()
    formats: Sequence[str] = ()
    from_1904: bool = False


def read(source: Source, draft: Draft) -> None:
    """Rows are streamed and blank cells skipped, whatever dimensions the sheet claims to have."""
    package = Package(source)
    main = package.main
    workbook = package.xml(main)
    draft.title = package.title()
    warn_of_macros(package, draft)
    book = _book(package, main, workbook)
    relations = package.relations(main)
    for number, sheet in enumerate(workbook.iter("{*}sheet")):
        name = sheet.get("name", "")
        target = relations.get(attribute(sheet, "id"))
        if target is None or target.kind != "worksheet":
            continue
        if number >= MAX_SHEETS:
            draft.lacks(f"sheets after {MAX_SHEETS}")
            break
        if sheet.get("state", "visible") != "visible":
            draft.warn(f"the sheet {one_line(name)} is hidden in the file, and was read")
        try:
            _sheet(package, target.target, name, book, draft)
        except (NotExtractedError, etree.XMLSyntaxError, *DAMAGE):
            draft.lacks(f"sheet {one_line(name)}")


def _sheet(package: Package, part: str, name: str, book: _Book, draft: Draft) -> None:
    draft.leave_headings()
    rows = _rows(package, part, book)
    drawn = [
        text
        for drawing in package.related(part, "drawing")
        for text in paragraphs_of(package.xml(drawing))
    ]
    first = next(rows, None)
    if first is not None or drawn:
        draft.heading(1, name)
    if first is not None:
        header = " | ".join(first.texts) if is_header(first.texts) else ""
        lines = (Row(" | ".join(cells.texts), cells) for cells in chain((first,), rows))
        draft.table(lines, lambda places: locate(name, places), header)
    for text in drawn:
        draft.paragraph(text, name)
    if any(package.related(part, "comments")) or any(package.related(part, "threadedComment")):
        draft.warn("comments were left out")
    attach_embedded(package, part, draft)


def _rows(package: Package, part: str, book: _Book) -> Iterator[Cells]:
    if not package.has(part):
        raise NotExtractedError.corrupt("A sheet is missing.")
    with package.stream(part) as stream:
        number = 0
        for _, row in etree.iterparse(
            stream, tag="{*}row", resolve_entities=False, no_network=True, load_dtd=False
        ):
            number = _whole(row.get("r"), number + 1)
            cells = list(_filled(row, book))
            row.clear()
            while row.getprevious() is not None:
                del row.getparent()[0]
            if cells:
                yield Cells(number, cells[0][0], aligned(cells))


def _filled(row: etree._Element, book: _Book) -> Iterator[tuple[int, str]]:
    """Column and text of each cell of a row that shows something."""
    column = 0
    for cell in row:
        column = _column(cell.get("r", "")) or column + 1
        if text := one_line(_shown(cell, book)):
            yield column, text


def _shown(cell: etree._Element, book: _Book) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_text(child) for child in cell if local_name(child) == "is")
    value = next((child.text or "" for child in cell if local_name(child) == "v"), "")
    if kind == "s":
        index = _whole(value, len(book.shared))
        return book.shared[index] if index < len(book.shared) else ""
    if kind == "b":
        return "TRUE" if value.strip() in ("1", "true") else "FALSE"
    return _number(value, cell.get("s", "0"), book) if kind == "n" else value


def _number(value: str, style: str, book: _Book) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    index = _whole(style, 0)
    code = book.formats[index] if index < len(book.formats) else GENERAL
    return format_number(number, code, from_1904=book.from_1904)


def _book(package: Package, main: str, workbook: etree._Element) -> _Book:
    shared = [
        _text(item)
        for part in package.related(main, "sharedStrings")
        for item in package.xml(part)
        if local_name(item) == "si"
    ]
    formats = [
        code for part in package.related(main, "styles") for code in _formats(package.xml(part))
    ]
    from_1904 = any(
        element.get("date1904") in ("1", "true") for element in workbook.iter("{*}workbookPr")
    )
    return _Book(shared, formats, from_1904)


def _formats(styles: etree._Element) -> Iterator[str]:
    own: Mapping[str, str] = {
        element.get("numFmtId", ""): element.get("formatCode", GENERAL)
        for element in styles.iter("{*}numFmt")
    }
    for table in styles.iter("{*}cellXfs"):
        for style in table:
            number = style.get("numFmtId", "0")
            yield own.get(number) or BUILT_IN.get(_whole(number, 0), GENERAL)


def _text(item: etree._Element) -> str:
    """A string's runs without the phonetic ones, which repeat the word in kana."""
    parts = []
    for child in item:
        name = local_name(child)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts.extend(text.text or "" for text in child if local_name(text) == "t")
    return "".join(parts)


def _column(reference: str) -> int:
    """27 for AA5; 0 for no reference."""
    column = 0
    for letter in reference.rstrip("0123456789").upper():
        column = column * 26 + ord(letter) - 64 if "A" <= letter <= "Z" else 0
    return column


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdigit() else otherwise
