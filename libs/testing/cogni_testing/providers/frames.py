"""The events of one streamed answer, as bytes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One event; `finishes` where it says why the answer is over."""

    data: bytes
    finishes: bool = False


def frame(data: Mapping[str, object], name: str = "", *, finishes: bool = False) -> Frame:
    """Return an event, its characters as they are."""
    return Frame((f"event: {name}\n" if name else "").encode() + line(data), finishes)


def line(data: Mapping[str, object]) -> bytes:
    """Return the data of an event; half a surrogate pair, which no UTF-8 holds, is escaped."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        return b"data: " + written.encode() + b"\n\n"
    except UnicodeEncodeError:
        return b"data: " + json.dumps(data).encode() + b"\n\n"
