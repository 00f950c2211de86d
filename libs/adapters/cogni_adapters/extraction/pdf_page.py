"""One PDF page as lines with their places: what is on the page, in the order it is drawn."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PageObject
from pypdf.generic import DictionaryObject, StreamObject

from cogni_adapters.extraction.pdf_fonts import add_missing_maps, is_unreadable

_TOLERANCE = 1.0
_ORIENTATIONS = (0, 90, 180, 270)
_HIDDEN_FLAGS = 2 | 32


@dataclass(frozen=True, slots=True)
class Line:
    """Text on one line.

    Attributes:
        x: From the left, in points; 0 where the place is not known.
        y: From the bottom; nothing where the place is not known.
        size: Height of its letters in points.
    """

    text: str
    x: float
    y: float | None
    size: float


@dataclass(slots=True)
class PageText:
    """What one page holds.

    Attributes:
        lines: As pypdf joins the pieces that the page draws.
        pieces: The pieces themselves, where the place of each is known.
        unreadable: Text was drawn in a font that does not say which letters it draws.
        off_page: Text stood outside the visible page, and was left out.
        comments: There are reviewers' notes, which are not read.
    """

    lines: list[Line]
    pieces: list[Line]
    unreadable: bool = False
    off_page: bool = False
    comments: bool = False


def read_page(page: PageObject) -> PageText:
    """Raises whatever pypdf raises: the caller counts the page as missing."""
    add_missing_maps(page)
    collector = _Collector(page)
    page.extract_text(
        visitor_text=collector.text,
        visitor_operand_before=collector.before,
        visitor_operand_after=collector.after,
    )
    found = PageText(
        collector.lines(), collector.placed(), collector.unreadable, collector.off_page
    )
    for annotation in _annotations(page):
        if annotation.get("/Subtype") == "/FreeText":
            found.lines.extend(_free_text(page, annotation))
        elif annotation.get("/Contents") and annotation.get("/Subtype") not in ("/Link", "/Widget"):
            found.comments = True
    return found


class _Collector:
    """Gathers the pieces that pypdf reports, and leaves out what nobody sees."""

    def __init__(self, page: PageObject) -> None:
        self.unreadable = False
        self.off_page = False
        self._pieces: list[Line] = []
        self._in_form = 0
        visible, media = page.cropbox, page.mediabox
        self._box = (
            max(float(visible.left), float(media.left)) - _TOLERANCE,
            max(float(visible.bottom), float(media.bottom)) - _TOLERANCE,
            min(float(visible.right), float(media.right)) + _TOLERANCE,
            min(float(visible.top), float(media.top)) + _TOLERANCE,
        )

    def before(self, operator: bytes, *_: object) -> None:
        self._in_form += operator == b"Do"

    def after(self, operator: bytes, *_: object) -> None:
        self._in_form -= operator == b"Do"

    def text(
        self, text: str, cm: Sequence[float], tm: Sequence[float], font: Any, size: float
    ) -> None:
        if not text:
            return
        if text.strip() and font is not None and is_unreadable(font):
            self.unreadable = True
            text = "\n" if text.endswith("\n") else " "
        x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
        y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        height = size * math.hypot(tm[2], tm[3]) * math.hypot(cm[2], cm[3])
        if self._in_form:
            self._pieces.append(Line(text, 0.0, None, height))
            return
        left, bottom, right, top = self._box
        if text.strip() and not (left <= x <= right and bottom <= y <= top):
            self.off_page = True
            text = "\n" if text.endswith("\n") else " "
        self._pieces.append(Line(text, x, y, height))

    def placed(self) -> list[Line]:
        """The visible pieces; none where a form drew some of them at a place that is not known."""
        shown = [piece for piece in self._pieces if piece.text.strip()]
        return [] if any(piece.y is None for piece in shown) else shown

    def lines(self) -> list[Line]:
        """Pieces joined up to each line end; a line stands where its first visible piece does."""
        lines: list[Line] = []
        open_pieces: list[Line] = []
        for piece in self._pieces:
            for part in piece.text.splitlines(keepends=True):
                open_pieces.append(Line(part, piece.x, piece.y, piece.size))
                if part.endswith("\n"):
                    lines.extend(_joined(open_pieces))
                    open_pieces = []
        lines.extend(_joined(open_pieces))
        return lines


def _joined(pieces: Sequence[Line]) -> Iterator[Line]:
    first = next((piece for piece in pieces if piece.text.strip()), None)
    if first is not None:
        text = "".join(piece.text for piece in pieces)
        yield Line(text.strip(), first.x, first.y, max(p.size for p in pieces if p.text.strip()))


def _annotations(page: PageObject) -> Iterator[DictionaryObject]:
    for entry in page.get("/Annots") or ():
        annotation = entry.get_object()
        if isinstance(annotation, DictionaryObject) and not annotation.get("/F", 0) & _HIDDEN_FLAGS:
            yield annotation


def _free_text(page: PageObject, annotation: DictionaryObject) -> Iterator[Line]:
    """A text box that somebody put on the page: as it is drawn, else as it is noted."""
    appearance = annotation.get("/AP", {}).get("/N")
    drawn = appearance.get_object() if appearance is not None else None
    text = ""
    if isinstance(drawn, StreamObject):
        text = page.extract_xform_text(drawn, _ORIENTATIONS, 200.0)  # type: ignore[arg-type]
    for line in (text.strip() or str(annotation.get("/Contents", ""))).splitlines():
        yield Line(line, 0.0, None, 0.0)
