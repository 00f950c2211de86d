"""A document while it is being read: blocks in order, under the headings that hold."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Generic, TypeVar

from cogni_adapters.extraction.clean import clean_text, one_line
from cogni_adapters.extraction.refusal import TextLimitReachedError
from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    ExtractionLimits,
)

TABLE_BLOCK_CHARACTERS = 1_200
NAME_CHARACTERS = 255
_SPACES = re.compile("[ \n]+")

Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class Source:
    """The file to read, and the bounds to keep."""

    name: str
    data: bytes
    limits: ExtractionLimits


@dataclass(frozen=True, slots=True)
class Row(Generic[Place]):
    """One line of a table, and where it stands."""

    text: str
    place: Place


class Draft:
    """Collects what a reader finds; every text passes `clean_text` here and nowhere else.

    Errors:
        TextLimitReachedError: From any adding method, once `text_characters` are there.
    """

    def __init__(self, limits: ExtractionLimits) -> None:
        self.title = ""
        self.bounded = False
        self._limits = limits
        self._blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._items: list[str] = []
        self._items_at = ""
        self._attachments: list[Attachment] = []
        self._missing: list[str] = []
        self._warnings: list[str] = []
        self._hidden = 0
        self._characters = 0
        self._attached_bytes = 0

    def heading(self, level: int, text: str, locator: str = "") -> None:
        """Begin a section; headings of this level and below are over."""
        self.end_list()
        text = one_line(self._clean(text))
        if text:
            self._path = [entry for entry in self._path if entry[0] < level] + [(level, text)]
            self._append(BlockKind.HEADING, text, locator)

    def leave_headings(self) -> None:
        """End every section: what follows stands for itself (a slide, a sheet, a message)."""
        self.end_list()
        self._path = []

    def paragraph(self, text: str, locator: str = "") -> None:
        self.end_list()
        self._append(BlockKind.PARAGRAPH, self._clean(text).strip(), locator)

    def code(self, text: str, locator: str = "") -> None:
        self.end_list()
        self._append(BlockKind.CODE, self._clean(text).strip("\n"), locator)

    def item(self, text: str, depth: int = 0, locator: str = "") -> None:
        """Add to the list that is open, or open one at `locator`."""
        text = one_line(self._clean(text))
        if not text:
            return
        if not self._items:
            self._items_at = locator
        self._items.append("  " * depth + "- " + text)

    def end_list(self) -> None:
        items, self._items = self._items, []
        self._append(BlockKind.LIST, "\n".join(items), self._items_at)

    def table(
        self,
        rows: Iterable[Row[Place]],
        locate: Callable[[Sequence[Place]], str],
        header: str = "",
    ) -> None:
        """Add rows as blocks of about `TABLE_BLOCK_CHARACTERS`, each of them under the header.

        Args:
            rows: With their cells already joined; blank ones are left out.
            locate: The locator of a block, from the places of its rows.
            header: The line that every block but the first repeats; the first row is the header.
        """
        self.end_list()
        header = _row_line(self._clean(header))
        lines: list[str] = []
        places: list[Place] = []
        for row in rows:
            text = _row_line(self._clean(row.text))
            if not text.strip(" |,;\t"):
                continue
            if places and sum(map(len, lines)) + len(text) > TABLE_BLOCK_CHARACTERS:
                self._append(BlockKind.TABLE, "\n".join(lines), locate(places))
                lines, places = [header] if header else [], []
            lines.append(text)
            places.append(row.place)
        if places:
            self._append(BlockKind.TABLE, "\n".join(lines), locate(places))

    def attach(self, name: str, data: bytes) -> None:
        """Add a file inside this one, or name it as missing where there are too many already."""
        name = clean_name(name) or f"attachment {len(self._attachments) + 1}"
        too_many = len(self._attachments) >= self._limits.attachments
        if too_many or self._attached_bytes + len(data) > self._limits.unpacked_bytes:
            self.lacks(f"attachment {name}")
            return
        self._attached_bytes += len(data)
        self._attachments.append(Attachment(name, data))

    def lacks(self, locator: str) -> None:
        """Record a part that could not be read."""
        if locator not in self._missing:
            self._missing.append(locator)

    def warn(self, text: str) -> None:
        if text not in self._warnings:
            self._warnings.append(text)

    @property
    def first_heading(self) -> str:
        """A title for a document that has none of its own; empty without headings."""
        return next((block.text for block in self._blocks if block.kind is BlockKind.HEADING), "")

    @property
    def has_attachments(self) -> bool:
        return bool(self._attachments)

    @property
    def has_missing(self) -> bool:
        return bool(self._missing)

    def finish(self, name: str, media_type: str) -> ExtractedDocument | None:
        """The document; nothing where there is neither text nor an attachment. Call `end_list` before."""
        if self._hidden:
            self.warn(f"{self._hidden} hidden characters were taken out")
        if not self._blocks and not self._attachments:
            return None
        title = one_line(clean_text(self.title)[0]) or PurePath(clean_name(name)).stem or "untitled"
        return ExtractedDocument(
            title=title[:NAME_CHARACTERS],
            blocks=tuple(self._blocks),
            media_type=media_type,
            attachments=tuple(self._attachments),
            missing=tuple(self._missing),
            warnings=tuple(self._warnings),
        )

    def _clean(self, text: str) -> str:
        text, hidden = clean_text(text)
        self._hidden += hidden
        return text

    def _append(self, kind: BlockKind, text: str, locator: str) -> None:
        if not text.strip():
            return
        room = self._limits.text_characters - self._characters
        if text[:room].strip():
            path = tuple(heading for _, heading in self._path)
            self._blocks.append(Block(kind, text[:room], path, locator))
        self._characters += len(text)
        if len(text) > room:
            self.lacks(f"text after {self._limits.text_characters} characters")
            raise TextLimitReachedError


def _row_line(text: str) -> str:
    """A row on one line. Tabs stay: they may be what parts its cells."""
    return _SPACES.sub(" ", text).strip(" ")


def clean_name(name: str) -> str:
    """A file's name as it may be shown: the last part of a path, one line, nothing hidden."""
    name = one_line(clean_text(name)[0]).replace("\\", "/").rsplit("/", 1)[-1]
    return name[:NAME_CHARACTERS]
