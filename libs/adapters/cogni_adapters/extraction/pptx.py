"""PowerPoint: one section a slide, with its tables and notes."""

from collections.abc import Iterator

from lxml import etree

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.csv_table import is_header
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.drawing import paragraph_text, paragraphs_of
from cogni_adapters.extraction.ooxml import (
    Package,
    attach_embedded,
    attribute,
    local_name,
    warn_of_macros,
)
from cogni_adapters.extraction.refusal import NotExtractedError

_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))


def read(source: Source, draft: Draft) -> None:
    """Slides in show order; a damaged one is missing, the others are read."""
    package = Package(source)
    draft.title = package.title()
    warn_of_macros(package, draft)
    relations = package.relations(package.main)
    for number, entry in enumerate(package.xml(package.main).iter("{*}sldId"), start=1):
        relation = relations.get(attribute(entry, "id"))
        try:
            if relation is None:
                raise NotExtractedError.corrupt("A slide is missing.")
            _Slide(package, relation.target, number, draft).read()
        except NotExtractedError:
            draft.lacks(f"slide {number}")
    if not draft.title:
        draft.title = draft.first_heading


class _Slide:
    def __init__(self, package: Package, part: str, number: int, draft: Draft) -> None:
        self._package = package
        self._part = part
        self._draft = draft
        self._place = f"slide {number}"

    def read(self) -> None:
        root = self._package.xml(self._part)
        if root.get("show") in ("0", "false"):
            self._draft.warn(f"{self._place} is hidden in the show, and was read")
        self._draft.leave_headings()
        shapes = list(_shapes(root))
        for shape in shapes:
            if _placeholder(shape) in _TITLES:
                self._draft.heading(1, " ".join(paragraphs_of(shape)), self._place)
        for shape in shapes:
            if _placeholder(shape) not in _TITLES:
                self._shape(shape)
        self._notes()
        for kind in ("comments", "comment"):
            if any(self._package.related(self._part, kind)):
                self._draft.warn("comments were left out")
        attach_embedded(self._package, self._part, self._draft)

    def _shape(self, shape: etree._Element) -> None:
        if local_name(shape) == "sp":
            if _placeholder(shape) not in _FURNITURE:
                self._paragraphs(shape)
            return
        for table in shape.iter("{*}tbl"):
            rows = [Row(" | ".join(cells), cells) for cells in _table_rows(table)]
            header = rows[0].text if rows and is_header(rows[0].place) else ""
            self._draft.table(rows, lambda _: self._place, header)
        for diagram in shape.iter("{*}relIds"):
            relation = self._package.relations(self._part).get(attribute(diagram, "dm"))
            if relation is not None and self._package.has(relation.target):
                for text in paragraphs_of(self._package.xml(relation.target)):
                    self._draft.item(text, 0, self._place)

    def _paragraphs(self, shape: etree._Element) -> None:
        for paragraph in shape.iter("{*}p"):
            text = paragraph_text(paragraph)
            if _placeholder(shape) in ("body", "obj", "subTitle") or _is_bullet(paragraph):
                level = next(iter(paragraph.iter("{*}pPr")), paragraph).get("lvl", "0")
                self._draft.item(text, min(int(level), 9) if level.isdigit() else 0, self._place)
            else:
                self._draft.paragraph(text, self._place)
        self._draft.end_list()

    def _notes(self) -> None:
        for part in self._package.related(self._part, "notesSlide"):
            for shape in _shapes(self._package.xml(part)):
                if _placeholder(shape) not in _FURNITURE:
                    for text in paragraphs_of(shape):
                        self._draft.paragraph(text, f"{self._place} notes")


def _shapes(root: etree._Element) -> Iterator[etree._Element]:
    """Shapes and frames in drawing order, out of their groups; of alternatives the first."""
    for element in root:
        name = local_name(element)
        if name in ("sp", "graphicFrame"):
            yield element
        elif name == "AlternateContent":
            yield from _shapes(element[0]) if len(element) else ()
        elif name in ("cSld", "spTree", "grpSp"):
            yield from _shapes(element)


def _placeholder(shape: etree._Element) -> str:
    """The kind of placeholder a shape fills; empty for one that stands for itself."""
    for element in shape.iter("{*}ph"):
        return str(element.get("type", "obj"))
    return ""


def _is_bullet(paragraph: etree._Element) -> bool:
    return next(iter(paragraph.iter("{*}buChar", "{*}buAutoNum")), None) is not None


def _table_rows(table: etree._Element) -> Iterator[list[str]]:
    """Texts of the cells; a merged cell once, at its first place."""
    for row in table.iter("{*}tr"):
        yield [
            one_line(" ".join(paragraphs_of(cell)))
            for cell in row
            if local_name(cell) == "tc" and not _is_covered(cell)
        ]


def _is_covered(cell: etree._Element) -> bool:
    return "1" in (cell.get("hMerge"), cell.get("vMerge")) or "true" in (
        cell.get("hMerge"),
        cell.get("vMerge"),
    )
