"""Text that a person does not see, but a model reads: taken out on the way in and on the way out.

Instructions can be smuggled in tag characters, zero-width characters, variation selectors and bidi
controls. The same code points make flags, emoji families, Persian and Hindi spelling and mixed
right-to-left lines, so each is judged by the visible characters beside it and not by itself.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

_MARKS = "\u061c\u200e\u200f"
_EMBEDDINGS = "\u202a\u202b"
_OVERRIDES = "\u202d\u202e"
_ISOLATES = "\u2066\u2067\u2068"
_POP_EMBEDDING = "\u202c"
_POP_ISOLATE = "\u2069"
_BIDI = _MARKS + _EMBEDDINGS + _OVERRIDES + _ISOLATES + _POP_EMBEDDING + _POP_ISOLATE

_ZWSP, _ZWNJ, _ZWJ = "\u200b", "\u200c", "\u200d"
_TEXT_STYLE, _EMOJI_STYLE = "\ufe0e", "\ufe0f"
_HIDDEN = (
    _BIDI
    + "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    + "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    + "\U000e0000-\U000e0fff"
)
HIDDEN_RUN = re.compile(f"[{_HIDDEN}]+")
BIDI_CONTROL = re.compile(f"[{_BIDI}]")
_PARAGRAPH = re.compile("[^\n\r\x1c-\x1e\x85\u2029]+")

_BLACK_FLAG = "\U0001f3f4"
_FLAGS = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_KEYCAP = "\u20e3"
_JOINING = re.compile(
    "[\u0600-\u07bf\u0840-\u0dff\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
)
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf]")
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_JAMO = re.compile("[\u1100-\u115e\u1161-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]")
_NEEDED_AFTER = {
    _ZWNJ: _JOINING,
    _ZWJ: _JOINING,
    _ZWSP: _SPACELESS,
    **dict.fromkeys("\u180b\u180c\u180d\u180e\u180f", _MONGOLIAN),
    "\u1160": _JAMO,
}
_NEEDED_BEFORE = {_ZWSP: _SPACELESS, "\u115f": _JAMO}


def neutralise_hidden_text(text: str) -> str:
    """Return `text` without what a person would not see.

    Only ever removes code points, so `len(text) - len(result)` counts what was hidden; ASCII stays,
    and a second pass changes nothing. Kept: the three recommended tag flags (England, Scotland,
    Wales), joiners between emoji and after letters of scripts that join, the emoji or text style
    of an emoji, word breaks of scripts without spaces, and bidi controls that touch right-to-left
    text (an override only where it reverses none).

    >>> neutralise_hidden_text("pay\\u200bload \\U0001f469\\u200d\\U0001f52c")
    'payload \U0001f469\u200d\U0001f52c'
    """
    if text.isascii() or HIDDEN_RUN.search(text) is None:
        return text
    text = _PARAGRAPH.sub(lambda match: _settle_bidi(match[0]), text)
    return HIDDEN_RUN.sub(_settle_run, text)


def _settle_run(match: re.Match[str]) -> str:
    """Keep of one run of hidden characters what its visible neighbours need."""
    text, run = match.string, match[0]
    before = text[match.start() - 1] if match.start() else ""
    after = text[match.end() : match.end() + 1]
    shaping = next((f for f in _FLAGS if before == _BLACK_FLAG and run.startswith(f)), "")
    kept, marked = [shaping], False
    for char in run[len(shaping) :]:
        if char in _MARKS and marked:
            continue
        if char in _BIDI:
            marked = marked or char in _MARKS
            kept.append(char)
        elif _is_needed(char, before, shaping, after):
            shaping += char
            kept.append(char)
    return "".join(kept)


def _is_needed(char: str, before: str, kept: str, after: str) -> bool:
    """Whether a hidden character, after what was `kept` of its run, changes what is seen."""
    if char == _ZWJ and kept in ("", _EMOJI_STYLE) and _EMOJI.match(before):
        return _EMOJI.match(after) is not None
    if kept:
        return False
    if char in (_TEXT_STYLE, _EMOJI_STYLE):
        keycap = after == _KEYCAP and before in tuple("#*0123456789")
        return keycap or _EMOJI.match(before) is not None
    follows, precedes = _NEEDED_AFTER.get(char), _NEEDED_BEFORE.get(char)
    return (follows or precedes) is not None and all(
        script is None or script.match(beside) is not None
        for script, beside in ((follows, before), (precedes, after))
    )


def _settle_bidi(line: str) -> str:
    """Drop the bidi controls of one paragraph that touch no right-to-left text."""
    if BIDI_CONTROL.search(line) is None:
        return line
    sides = _Sides(line)
    if not sides.has("R", 0, len(line)):
        return BIDI_CONTROL.sub("", line)
    keep = {at for at, char in enumerate(line) if char in _MARKS and sides.touch(at, at + 1)}
    for opened, closed in _pairs(line):
        end = len(line) if closed is None else closed
        if line[opened] in _OVERRIDES:
            wanted = closed is not None and _reverses_nothing(line[opened], sides, opened, end)
        else:
            wanted = sides.touch(opened, end) and sides.has("visible", opened, end)
        if wanted:
            keep |= {opened} if closed is None else {opened, closed}
    return "".join(char for at, char in enumerate(line) if char not in _BIDI or at in keep)


def _reverses_nothing(override: str, sides: "_Sides", start: int, end: int) -> bool:
    return override == "\u202e" and sides.has("R", start, end) and not sides.has("L", start, end)


class _Sides:
    """Answers what is in a stretch of a line, or right beside it, in constant time."""

    def __init__(self, line: str) -> None:
        strong = [_strong_direction(char) for char in line]
        self._before = _nearest(strong)
        self._after = _nearest(strong[::-1])[::-1]
        seen = {
            "R": (direction == "R" for direction in strong),
            "L": (direction == "L" for direction in strong),
            "visible": (HIDDEN_RUN.match(char) is None for char in line),
        }
        self._counts = {what: [0, *accumulate(flags)] for what, flags in seen.items()}

    def has(self, what: str, start: int, end: int) -> bool:
        """Whether `what` (R, L or visible) occurs in the stretch."""
        return self._counts[what][end] > self._counts[what][start]

    def touch(self, start: int, end: int) -> bool:
        """Whether right-to-left text is in the stretch, or is the nearest on one of its sides."""
        after = self._after[end] if end < len(self._after) else ""
        return "R" in (self._before[start], after) or self.has("R", start, end)


def _strong_direction(char: str) -> str:
    """R, L, or nothing for what has no direction of its own."""
    if char in _BIDI:
        return ""
    return {"R": "R", "AL": "R", "L": "L"}.get(unicodedata.bidirectional(char), "")


def _nearest(strong: Sequence[str]) -> Sequence[str]:
    """The last strong direction up to and at each place."""
    found, last = [], ""
    for direction in strong:
        last = direction or last
        found.append(last)
    return found


def _pairs(line: str) -> list[tuple[int, int | None]]:
    """Openers with their closers; an opener that nothing closes runs to the end of the line."""
    found: list[tuple[int, int | None]] = []
    opened: list[int] = []
    isolates = 0
    for at, char in enumerate(line):
        if char in _EMBEDDINGS + _OVERRIDES + _ISOLATES:
            opened.append(at)
            isolates += char in _ISOLATES
        elif char == _POP_EMBEDDING and opened and line[opened[-1]] not in _ISOLATES:
            found.append((opened.pop(), at))
        elif char == _POP_ISOLATE and isolates:
            while line[opened[-1]] not in _ISOLATES:
                found.append((opened.pop(), None))
            found.append((opened.pop(), at))
            isolates -= 1
    return found + [(start, None) for start in opened]
