"""A long answer in two pieces: what is shown at once, and the rest."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace

from cogni_domain.ports.run_log import NumberedDelta
from cogni_engine import TokenDelta

_ENDS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"[.!?…](?:\[s[0-9]+\])*(?=\s)|[。！？]|\n"),
    re.compile(r"\s"),
)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_MARK = re.compile(r"\[\[[A-Z]{1,16}:[a-z][1-9][0-9]{0,8}\]\]|\[s[1-9][0-9]{0,8}\]", re.ASCII)
_LONGEST_MARK = 32
_LEAST = 0.5
"""A piece has at least this share of the limit, or its end is looked for elsewhere."""


def cut(text: str, limit: int | None) -> tuple[str, str]:
    """Return at most `limit` characters that end with a paragraph, else a sentence, else a word, and the rest.

    No character is lost or added; where no end is near, the cut is at the limit, or before the source or widget
    that stands across it.

    >>> cut("One. Two. Three.", 11)
    ('One. Two.', ' Three.')
    """
    if limit is None or len(text) <= limit:
        return text, ""
    within = text[:limit]
    for ends in _ENDS:
        found = [m.end() for m in ends.finditer(text, 0, limit + 1)]
        fitting = (at for at in reversed(found) if limit * _LEAST <= at <= limit)
        places = (at for at in fitting if not _in_code(within[:at]))
        if (at := next(places, None)) is not None:
            return text[:at], text[at:]
    at = _beside_mark(text, limit) or limit
    return text[:at], text[at:]


async def limited(
    deltas: AsyncIterator[NumberedDelta], limit: int | None, after: int = 0
) -> AsyncIterator[NumberedDelta]:
    """Yield deltas with no more of the text than a surface shows at once; the rest is asked for, as `cut` leaves it.

    Args:
        deltas: Of a run from its first one, each source and widget whole in its delta: who comes back in the middle
            is shown the same.
        limit: Characters, None for all.
        after: The cursor after which they are yielded.
    """
    room = limit
    async for numbered in deltas:
        shown = numbered
        if room is not None and isinstance(numbered.delta, TokenDelta):
            text = numbered.delta.text
            fits = len(text) if len(text) <= room else _beside_mark(text, room)
            room = room - fits if fits == len(text) else 0
            if not fits:
                continue
            shown = replace(numbered, delta=replace(numbered.delta, text=text[:fits]))
        if numbered.cursor > after:
            yield shown


def _beside_mark(text: str, at: int) -> int:
    """Return the place of a cut, moved before the source or widget that it would go through."""
    marks = _MARK.finditer(text, max(0, at - _LONGEST_MARK), at + _LONGEST_MARK)
    return next((m.start() for m in marks if m.start() < at < m.end()), at)


def _in_code(text: str) -> bool:
    return len(_FENCE.findall(text)) % 2 == 1
