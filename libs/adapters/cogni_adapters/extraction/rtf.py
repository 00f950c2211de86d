"""Rich Text Format: its text by paragraphs; a table row is a line with its cells parted."""

import re

from striprtf.striprtf import rtf_to_text

from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.plain_text import paragraphs
from cogni_adapters.extraction.refusal import NotExtractedError
from cogni_domain.knowledge.extracted import Reason

_TITLE = re.compile(r"\{\\title\s+([^{}\\]+)\}")


def read(source: Source, draft: Draft) -> None:
    """RTF is ASCII with escapes; a byte beyond it is read as the file's own code page says."""
    text = source.data.decode("latin-1")
    if title := _TITLE.search(text):
        draft.title = title[1]
    try:
        plain = str(rtf_to_text(_escape_raw_bytes(text), errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, LookupError, IndexError, TypeError) as error:
        raise NotExtractedError(
            Reason.CORRUPT, "The RTF cannot be read: open it in a word processor and save it again."
        ) from error
    for _, _, block in paragraphs(plain):
        _add(block, draft)


def _add(block: str, draft: Draft) -> None:
    for line in block.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 2 and not cells[-1]:
            draft.table([Row(" | ".join(cells[:-1]), 0)], lambda _: "")
        else:
            draft.paragraph(line)


def _escape_raw_bytes(text: str) -> str:
    return re.sub("[\x80-\xff]", lambda match: f"\\'{ord(match[0]):02x}", text)
