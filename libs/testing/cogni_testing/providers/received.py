"""What a double was asked, and what became of the one who asked."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Received:
    """One request.

    Times are those of the event loop, in seconds.

    Attributes:
        path: As it was asked for, `/v1/messages`.
        headers: By their names in lower case.
        body: The JSON that came, None where there was none.
        at: When the request was whole.
        answered_at: When the last byte of the answer was handed over; None before.
        gone_at: When the client closed the connection before the answer was over; None where it did not.
        gone: Set with `gone_at`.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    at: float
    answered_at: float | None = None
    gone_at: float | None = None
    gone: asyncio.Event = field(default_factory=asyncio.Event)
