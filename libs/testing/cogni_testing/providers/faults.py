"""What a provider does wrong. Every fault works in every format that has a place for it.

Malformed, empty or impossible arguments and pieces of a mebibyte are no faults of the wire: a script says them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


class Fault:
    """Something that goes wrong with one turn."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Status(Fault):
    """An error instead of an answer: 429 with `{"retry-after": "7"}`, 500."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    message: str = "no"


@dataclass(frozen=True, slots=True)
class Hang(Fault):
    """Nothing more after so many events, the connection left open; None for not even a status line."""

    after: int | None = None


@dataclass(frozen=True, slots=True)
class HangUp(Fault):
    """The connection closed without a word."""


@dataclass(frozen=True, slots=True)
class Cut(Fault):
    """The stream broken off just before or just after the event that says why the answer is over.

    Attributes:
        before_finish: Whether that event is still missing.
        half_event: Whether the last event that is sent is sent by half.
        well_ended: Whether HTTP says that this was all; else the connection breaks.
    """

    before_finish: bool = True
    half_event: bool = False
    well_ended: bool = False


@dataclass(frozen=True, slots=True)
class Drip(Fault):
    """A wait before every piece, in seconds."""

    wait_s: float


@dataclass(frozen=True, slots=True)
class Split(Fault):
    """The bytes of the stream sent in pieces of their own.

    Attributes:
        every: The size of a piece in bytes.
        places: Where to cut besides, in bytes from the beginning; beyond the end they come round again.
    """

    every: int | None = None
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Insert(Fault):
    """Bytes sent as they are, before the event of this number; negative numbers count from the end."""

    data: bytes
    before: int = 1


@dataclass(frozen=True, slots=True)
class ErrorEvent(Fault):
    """The format's own error event instead of the rest of the stream, after so many events."""

    after: int = 1
    code: str = "overloaded_error"


@dataclass(frozen=True, slots=True)
class EmptyIds(Fault):
    """Every fragment of a call but its first carries an empty id."""


@dataclass(frozen=True, slots=True)
class SameIndex(Fault):
    """Every call counted as the first one."""


@dataclass(frozen=True, slots=True)
class RepeatedUsage(Fault):
    """An empty usage record in every event that has room for one, beside the true one."""


@dataclass(frozen=True, slots=True)
class ServesWhole(Fault):
    """A stream was asked for, and the answer comes whole, as one JSON document."""


@dataclass(frozen=True, slots=True)
class Document(Fault):
    """Bytes of a test's own, said to be JSON, instead of an answer."""

    data: bytes


UNKNOWN_EVENT = Insert(b'event: surprise\ndata: {"type": "surprise", "index": 7, "delta": [1]}\n\n')
NOT_JSON = Insert(b"data: {not json}\n\n")
NOT_A_NUMBER = Insert(b'data: {"choices": [{"index": NaN, "delta": {}}], "created": NaN}\n\n')
INVALID_UTF8 = Insert(b'data: {"choices": [{"index": 0, "delta": {"content": "\xff\xfe"}}]}\n\n')
COMMENT = Insert(b": keep-alive\n\n")
