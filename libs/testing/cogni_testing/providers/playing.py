"""How the events of an answer go out when they are to go wrong."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from cogni_testing.providers.connection import Connection
from cogni_testing.providers.faults import Cut, Drip, ErrorEvent, Fault, Hang, Insert, Split
from cogni_testing.providers.frames import Frame


async def play(connection: Connection, frames: Sequence[Frame], faults: Sequence[Fault]) -> None:
    """Stream frames, as badly as it is asked for."""
    wait_s = sum(fault.wait_s for fault in faults if isinstance(fault, Drip))
    await connection.open_stream()
    for piece in _pieces(frames, faults):
        await asyncio.sleep(wait_s)
        await connection.piece(piece)
    if any(isinstance(fault, Hang) for fault in faults):
        await asyncio.Event().wait()
    if any(isinstance(fault, Cut) and not fault.well_ended for fault in faults):
        connection.close()
    else:
        await connection.close_stream()


def with_faults(
    frames: Sequence[Frame], faults: Sequence[Fault], error_frame: Callable[[str], Frame]
) -> list[Frame]:
    """Return the frames that are sent, of those that should be."""
    found = list(frames)
    for fault in faults:
        match fault:
            case Insert(data, before):
                found.insert(before, Frame(data))
            case ErrorEvent(after, code):
                found = [*found[:after], error_frame(code)]
            case Hang(int(after)):
                found = found[:after]
            case Cut():
                found = _cut(found, fault)
    return found


def _cut(frames: list[Frame], cut: Cut) -> list[Frame]:
    last = next((n for n, frame in enumerate(frames) if frame.finishes), len(frames) - 1)
    kept = frames[: last if cut.before_finish else last + 1]
    rest = frames[len(kept) : len(kept) + 1]
    half = [Frame(frame.data[: len(frame.data) // 2]) for frame in rest if cut.half_event]
    return [*kept, *half]


def _pieces(frames: Sequence[Frame], faults: Sequence[Fault]) -> Iterator[bytes]:
    """Yield what goes out in one write: an event, or what a split makes of all of them."""
    splits = [fault for fault in faults if isinstance(fault, Split)]
    if not splits:
        yield from (frame.data for frame in frames)
        return
    whole = b"".join(frame.data for frame in frames)
    places = {0, len(whole)}
    for split in splits:
        places |= {place % (len(whole) + 1) for place in split.places}
        places |= set(range(0, len(whole), split.every)) if split.every else set()
    yield from (whole[a:b] for a, b in pairwise(sorted(places)))
