"""What a reading process says: a line of JSON, then the bytes of the attachments.

Nothing of it is trusted: `decode_answer` builds values field by field and checks each.
"""

import json
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    ExtractionLimits,
    Reason,
    Skipped,
)


def most_bytes(limits: ExtractionLimits) -> int:
    """What an answer within the limits can weigh; the kernel refuses to write more."""
    return limits.text_characters * 16 + limits.unpacked_bytes + 4 * 2**20


def encode_answer(answer: ExtractedDocument | Skipped, file: BinaryIO) -> None:
    """Write what `decode_answer` reads."""
    if isinstance(answer, Skipped):
        file.write(_line({"reason": answer.reason.value, "explanation": answer.explanation}))
        return
    blocks = [[b.kind.value, b.text, b.heading, b.locator] for b in answer.blocks]
    head = {
        "title": answer.title,
        "media_type": answer.media_type,
        "blocks": blocks,
        "attachments": [[entry.name, len(entry.data)] for entry in answer.attachments],
        "missing": answer.missing,
        "warnings": answer.warnings,
    }
    file.write(_line(head))
    for entry in answer.attachments:
        file.write(entry.data)


def decode_answer(data: bytes) -> ExtractedDocument | Skipped:
    """Errors: ValueError for anything but an answer."""
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    if not isinstance(head, dict):
        raise ValueError("an answer is an object")
    if "reason" in head:
        return Skipped(Reason(_text(head, "reason")), _text(head, "explanation"))
    return ExtractedDocument(
        title=_text(head, "title"),
        blocks=tuple(_block(entry) for entry in _entries(head, "blocks")),
        media_type=_text(head, "media_type"),
        attachments=tuple(_attachments(_entries(head, "attachments"), rest)),
        missing=_texts(_entries(head, "missing")),
        warnings=_texts(_entries(head, "warnings")),
    )


def _line(head: Mapping[str, object]) -> bytes:
    return json.dumps(head, ensure_ascii=False).encode("utf-8") + b"\n"


def _block(entry: object) -> Block:
    match entry:
        case [str(kind), str(text), list(heading), str(locator)] if text.strip():
            return Block(BlockKind(kind), text, _texts(heading), locator)
    raise ValueError("not a block")


def _attachments(entries: Sequence[object], data: bytes) -> Sequence[Attachment]:
    found, at = [], 0
    for entry in entries:
        match entry:
            case [str(name), int(size)] if 0 <= size <= len(data) - at:
                found.append(Attachment(name, data[at : at + size]))
                at += size
            case _:
                raise ValueError("not an attachment")
    return found


def _text(head: Mapping[str, object], name: str) -> str:
    value = head.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value


def _entries(head: Mapping[str, object], name: str) -> Sequence[object]:
    value = head.get(name)
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a list")
    return value


def _texts(entries: Sequence[object]) -> tuple[str, ...]:
    texts = tuple(entry for entry in entries if isinstance(entry, str))
    if len(texts) != len(entries):
        raise ValueError("not a list of texts")
    return texts
