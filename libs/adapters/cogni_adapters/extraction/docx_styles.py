"""What a Word paragraph is by its style: a heading of some level, a list item, or neither."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

from cogni_adapters.extraction.ooxml import attribute, local_name

_BODY_LEVEL = 9
_HEADING = re.compile(r"heading ([1-9])")
_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """Levels of a heading begin at 0, the document's title; depths of a list at 0."""

    heading: int | None = None
    list_depth: int | None = None


class ParagraphStyles:
    """The styles of one document, each with what it inherits."""

    def __init__(self, elements: Iterable[etree._Element]) -> None:
        self._styles = {
            attribute(style, "styleId"): style for style in elements if local_name(style) == "style"
        }

    def of(self, paragraph: etree._Element) -> ParagraphStyle:
        own = _child(paragraph, "pPr")
        names: list[str] = []
        level, depth = _levels(own)
        style = self._styles.get(_value(own, "pStyle"))
        while style is not None and len(names) < _MAX_ANCESTORS:
            names.append(_value(style, "name").lower())
            inherited_level, inherited_depth = _levels(_child(style, "pPr"))
            level = inherited_level if level is None else level
            depth = inherited_depth if depth is None else depth
            style = self._styles.get(_value(style, "basedOn"))
        heading = _heading(level, names)
        return ParagraphStyle(heading, depth if heading is None and depth != -1 else None)


def _heading(level: int | None, names: list[str]) -> int | None:
    if level is not None:
        return level + 1 if level < _BODY_LEVEL else None
    for name in names:
        if name == "title":
            return 0
        if match := _HEADING.fullmatch(name):
            return int(match[1])
    return None


def _levels(properties: etree._Element | None) -> tuple[int | None, int | None]:
    """Outline level, and depth in a list (-1: taken out of it); nothing where not said here."""
    outline = _value(properties, "outlineLvl")
    numbering = _child(properties, "numPr")
    depth: int | None = None
    if numbering is not None:
        level = _value(numbering, "ilvl")
        depth = -1 if _value(numbering, "numId") == "0" else int(level) if level.isdigit() else 0
    return int(outline) if outline.isdigit() else None, depth


def _child(parent: etree._Element | None, name: str) -> etree._Element | None:
    if parent is None:
        return None
    return next((element for element in parent if local_name(element) == name), None)


def _value(parent: etree._Element | None, name: str) -> str:
    element = _child(parent, name)
    return "" if element is None else attribute(element, "val")
