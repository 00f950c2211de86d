"""What extraction makes of a file: blocks that keep their place, or a typed reason why not."""

from dataclasses import dataclass, field
from enum import Enum


class BlockKind(Enum):
    """What a block is in its document."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of a document's own structure.

    Attributes:
        kind: What it is. A heading's text is also the last of its own `heading` path.
        text: Its text, NFC, never blank. A table has one line a row, cells parted by " | " (in a CSV by
            its own delimiter); a long one is several blocks, each under the header line.
        heading: The headings above it, outermost first.
        locator: Its place as a person would say it: `page 3`, `slide 2`, `Sheet1!A1:D20`, `lines 10-14`;
            empty where the headings say it all.
    """

    kind: BlockKind
    text: str
    heading: tuple[str, ...] = ()
    locator: str = ""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a file: becomes a document of its own under its parent's rule."""

    name: str
    data: bytes = field(repr=False)


class Reason(Enum):
    """Why a document, or a part of it, was not indexed. Each is a row on the gap list."""

    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    BOUNDED = "bounded"
    UNSUPPORTED = "unsupported"
    UNREADABLE = "unreadable"
    UNMAPPABLE = "unmappable"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing was extracted.

    Attributes:
        reason: The kind of obstacle.
        explanation: One sentence for an administrator, saying what to do.
    """

    reason: Reason
    explanation: str


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """A file as blocks.

    Attributes:
        title: The document's own title, else its file name without the ending.
        blocks: In reading order, at least one unless there are attachments.
        media_type: What the content turned out to be, whatever the name says.
        attachments: Files inside this one.
        missing: Parts that could not be read, as locators (`page 7`); not empty means PARTIAL.
        warnings: What an administrator should know: a decoding guess, dropped comments, hidden text.
    """

    title: str
    blocks: tuple[Block, ...]
    media_type: str
    attachments: tuple[Attachment, ...] = ()
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Bounds of one extraction, in its own process.

    Attributes:
        file_bytes: A larger file is TOO_LARGE before it is opened.
        memory_bytes: Address space of the child process.
        cpu_s: Processor seconds.
        wall_s: Seconds from start to end.
        text_characters: Text beyond is cut, and the document marked partial.
        unpacked_bytes: Sum of the unpacked members of a container.
        unpack_ratio: Unpacked over packed bytes.
        attachments: Files inside a file; more are named in `missing`.
    """

    file_bytes: int = 64 * 2**20
    memory_bytes: int = 1024 * 2**20
    cpu_s: int = 20
    wall_s: int = 30
    text_characters: int = 5_000_000
    unpacked_bytes: int = 200 * 2**20
    unpack_ratio: int = 100
    attachments: int = 100
