"""A long answer in two pieces: what is shown at once, and the rest."""

import re

_ENDS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"[.!?…](?:\[s[0-9]+\])*(?=\s)|[。！？]|\n"),
    re.compile(r"\s"),
)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_LEAST = 0.5
"""A piece has at least this share of the limit, or its end is looked for elsewhere."""


def cut(text: str, limit: int | None) -> tuple[str, str]:
    """Return at most `limit` characters that end with a paragraph, else a sentence, else a word, and the rest.

    No character is lost or added; where no end is near, the cut is at the limit.

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
    return within, text[limit:]


def _in_code(text: str) -> bool:
    return len(_FENCE.findall(text)) % 2 == 1
