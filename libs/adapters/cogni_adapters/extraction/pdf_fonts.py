"""Fonts that do not say which letters they draw.

A composite font may show glyph numbers alone. Those of the Adobe-Japan1 collection follow the order
of JIS X 0208, which Python's codecs know, so they can be told; others cannot, and their text is
never passed on as if it could.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pypdf import PageObject
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

_IDENTITY = ("/Identity-H", "/Identity-V")
_JAPAN1 = "Japan1"
_FIRST_SIGN, _SIGN_ROWS = 633, range(1, 8)
_FIRST_KANJI, _KANJI_ROWS = 1125, range(16, 85)


def add_missing_maps(page: PageObject) -> None:
    """Give each Adobe-Japan1 font of a page the character map that it lacks."""
    for font in _fonts(page):
        if _lacks_map(font) and _ordering(font) == _JAPAN1:
            stream = DecodedStreamObject()
            stream.set_data(_japan1_map())
            font[NameObject("/ToUnicode")] = stream


def is_unreadable(font: Any) -> bool:
    """Whether text in this font is glyph numbers that nothing maps to letters."""
    return isinstance(font, DictionaryObject) and _lacks_map(font) and _ordering(font) != _JAPAN1


def _fonts(page: PageObject) -> Iterator[DictionaryObject]:
    resources = page.get("/Resources")
    fonts = resources.get_object().get("/Font") if resources is not None else None
    for entry in (fonts.get_object() if fonts is not None else {}).values():
        font = entry.get_object()
        if isinstance(font, DictionaryObject):
            yield font


def _lacks_map(font: DictionaryObject) -> bool:
    return (
        font.get("/Subtype") == "/Type0"
        and font.get("/Encoding") in _IDENTITY
        and "/ToUnicode" not in font
    )


def _ordering(font: DictionaryObject) -> str:
    for entry in font.get("/DescendantFonts") or ():
        info = entry.get_object().get("/CIDSystemInfo")
        if info is not None:
            return str(info.get_object().get("/Ordering", ""))
    return ""


@lru_cache(maxsize=1)
def _japan1_map() -> bytes:
    """A ToUnicode map: printable ASCII from 1, kana and signs from 633, kanji from 1125."""
    letters = {number: chr(31 + number) for number in range(1, 96)} | {61: "¥"}
    letters |= dict(enumerate(_jis(_SIGN_ROWS), start=_FIRST_SIGN))
    letters |= dict(enumerate(_jis(_KANJI_ROWS), start=_FIRST_KANJI))
    lines = [f"<{number:04x}> <{ord(letter):04x}>" for number, letter in letters.items()]
    return "\n".join(("beginbfchar", *lines, "endbfchar")).encode("ascii")


def _jis(rows: range) -> Iterator[str]:
    """The characters of JIS X 0208 in these rows, in order, without the gaps."""
    for row in rows:
        for cell in range(1, 95):
            try:
                yield bytes((0xA0 + row, 0xA0 + cell)).decode("euc_jp")
            except UnicodeDecodeError:
                continue
