"""Hidden text is neutralised while it streams: the same result for every way of cutting the stream."""

import re
import unicodedata

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text

_LINE = re.compile("(?<=[\n\r\x1c-\x1e\x85\u2029])")
_FILLERS = "\u115f\u1160\u3164\uffa0"
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class HiddenTextStream:
    """Releases what no later character can change.

    Whether a hidden character stays depends on its visible neighbours, and a bidi control on its whole line;
    so text is released up to a pair of plain characters, and a line with a bidi control when it ends.
    """

    def __init__(self) -> None:
        self._line = ""
        self._settled = 0
        self._released = 0
        self._has_bidi = False

    def feed(self, text: str) -> str:
        """Take more text; return what is settled now."""
        settled: list[str] = []
        *lines, last = _LINE.split(text)
        for line in lines:
            self._line += line
            settled.append(self.finish())
        self._line += last
        self._has_bidi = self._has_bidi or _BIDI.search(last) is not None
        if not self._has_bidi:
            settled.append(self._settled_part())
        return "".join(settled)

    def finish(self) -> str:
        """Return what was held back; nothing comes after it on this line."""
        rest = neutralise_hidden_text(self._line)[self._released :]
        self._line, self._settled, self._released, self._has_bidi = "", 0, 0, False
        return rest

    def _settled_part(self) -> str:
        end = len(self._line) - 1
        while end > self._settled and not (
            _is_plain(self._line[end]) and _is_plain(self._line[end - 1])
        ):
            end -= 1
        if end <= self._settled:
            return ""
        fresh = neutralise_hidden_text(self._line[self._settled : end])
        self._settled = end
        self._released += len(fresh)
        return fresh


def _is_plain(char: str) -> bool:
    return char.isascii() or (unicodedata.category(char)[0] in "LNPZ" and char not in _FILLERS)
