"""What a connector tells of a source: documents, their rules, and what changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cogni_domain.access.rule import AccessRule, Unmappable


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document as its source lists it; its content is fetched by `extract`.

    Attributes:
        source_id: Stable at the source; for files the raw bytes of the path, percent-encoded.
        name: For people; file extensions help extraction.
        rule: Who may read it, or why that cannot be told.
        revision: Changes whenever the content may have: an mtime and size, a version number.
        updated_at: When the source says it changed, UTC.
        url: Where a person opens it.
    """

    source_id: str
    name: str
    rule: AccessRule | Unmappable
    revision: str
    updated_at: datetime
    url: str | None = None


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A part of an enumeration. `next_cursor` is None after the very last part.

    Attributes:
        is_doubtful: The source cannot vouch for it: if it lists nothing at all, nothing known is removed.
    """

    documents: Sequence[SourceDocument]
    next_cursor: str | None
    is_doubtful: bool = False


class ChangeKind(Enum):
    """What happened to a document at its source."""

    EDITED = "edited"
    MOVED = "moved"
    DELETED = "deleted"
    ACL_CHANGED = "acl_changed"


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """One change; `document` is its state afterwards, None where it is gone.

    Attributes:
        source_id: What it was known by before; a move may give it another one.
        was_named: Its name before a move that gave it another id.
    """

    kind: ChangeKind
    source_id: str
    document: SourceDocument | None = None
    was_named: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A document, or a part of one, that was not indexed.

    Attributes:
        reason: The value of a `Reason`.
        explanation: One sentence for an administrator, saying what to do.
    """

    source_id: str
    name: str
    reason: str
    explanation: str
    seen_at: datetime
