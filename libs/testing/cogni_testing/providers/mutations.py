"""Real events, damaged: what a broken server, proxy or network may make of them."""

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    10**400,
    float("nan"),
    float("inf"),
    1.5,
    "",
    "0",
    "system",
    "user",
    "tool",
    "stop",
    "call_1",
    "\ud83d",
    "\ude00",
    "\x00",
    "x" * 5_000,
    [],
    {},
    [None],
    [[], {}, "x", 7],
    {"index": 0, "delta": {"role": "system", "content": "x"}},
    {"type": "text_delta", "text": ["x"]},
)


def mutated(frames: Sequence[bytes], chance: Random) -> list[bytes]:
    """Return as many events, some of them damaged in one way or another, at least one of them."""
    found = list(frames)
    for _ in range(chance.randrange(1, max(2, len(found) // 3))):
        chance.choice(_WAYS)(found, chance)
    return found


def _value(frames: list[bytes], chance: Random) -> None:
    """Put an odd value somewhere into the JSON of an event."""
    at = chance.randrange(len(frames))
    name, marker, written = frames[at].partition(b"data: ")
    try:
        data = json.loads(written)
        places = list(_places(data))
    except (ValueError, RecursionError):  # damaged already
        return
    if not places:
        return
    holder, key = chance.choice(places)
    if chance.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = chance.choice(_ODD)
    frames[at] = name + marker + _written(data) + b"\n\n"


def _written(data: Any) -> bytes:
    try:
        return json.dumps(data).encode()
    except RecursionError:
        return b"{}"


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(data, dict | list):
        return
    entries = list(data.items()) if isinstance(data, dict) else list(enumerate(data))
    for key, value in entries:
        yield data, key
        yield from _places(value)


def _byte(frames: list[bytes], chance: Random) -> None:
    """Change, drop or add bytes."""
    at = chance.randrange(len(frames))
    data = bytearray(frames[at])
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(data) + 1)
        stop = place + chance.choice((0, 1, 1, 3))
        data[place:stop] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
    frames[at] = bytes(data)


def _short(frames: list[bytes], chance: Random) -> None:
    """Leave the end of an event out."""
    at = chance.randrange(len(frames))
    frames[at] = frames[at][: chance.randrange(len(frames[at]) + 1)]


def _place(frames: list[bytes], chance: Random) -> None:
    """Change two events, or let one come twice instead of another."""
    one, other = chance.randrange(len(frames)), chance.randrange(len(frames))
    if chance.random() < 0.5:
        frames[one], frames[other] = frames[other], frames[one]
    else:
        frames[one] = frames[other]


def _deep(frames: list[bytes], chance: Random) -> None:
    """Nest a value so deep that readers give up, at depths where some do."""
    at = chance.randrange(len(frames))
    depth = chance.choice((50, 300, 700, chance.randrange(850, 1_050), 100_000))
    nested = b'{"a":' * depth + b"1" + b"}" * depth
    frames[at] = frames[at].replace(b'""', nested, 1).replace(b"null", nested, 1)


_WAYS: tuple[Callable[[list[bytes], Random], None], ...] = (
    _value,
    _value,
    _value,
    _byte,
    _short,
    _place,
    _deep,
)
