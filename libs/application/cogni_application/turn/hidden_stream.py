"""Hidden text is neutralised while it streams: the same result for every way of cutting the stream."""

import re

from cogni_domain.knowledge.hidden_text import BIDI_CONTROL, HIDDEN_RUN, neutralise_hidden_text

_LINE_END = re.compile("(?<=[\n\r\x1c-\x1e\x85\u2029])")


class HiddenTextStream:
    """Releases what no later character can change.

    Whether a hidden character stays depends on the visible ones beside it, and a bidi control on its whole line;
    so a run of hidden characters waits for what follows it, and a line with a bidi control for its end.
    """

    def __init__(self) -> None:
        self._begin_line()

    def _begin_line(self) -> None:
        self._line: list[str] = []
        self._released = 0
        self._has_bidi = False
        self._before = ""
        self._waiting: list[str] = []

    def feed(self, text: str) -> str:
        """Take more text; return what is settled now."""
        *lines, last = _LINE_END.split(text)
        ended = [self._take(line) + self.finish() for line in lines]
        return "".join((*ended, self._take(last)))

    def finish(self) -> str:
        """Return what was held back; nothing comes after it on this line."""
        rest = neutralise_hidden_text("".join(self._line))[self._released :]
        self._begin_line()
        return rest

    def _take(self, text: str) -> str:
        """Add to the line; return what is settled of it up to its last visible character."""
        if not text:
            return ""
        self._line.append(text)
        self._has_bidi = self._has_bidi or BIDI_CONTROL.search(text) is not None
        if self._has_bidi:
            return ""
        end = _visible_end(text)
        if end == 0:
            self._waiting.append(text)
            return ""
        known = "".join((self._before, *self._waiting, text[:end]))
        fresh = neutralise_hidden_text(known)[len(self._before) :]
        self._before, self._waiting = text[end - 1], [text[end:]]
        self._released += len(fresh)
        return fresh


def _visible_end(text: str) -> int:
    """Return where the hidden characters at the end of a text begin, its length where there are none."""
    if text.isascii():
        return len(text)
    *_, last = [(len(text), len(text)), *(run.span() for run in HIDDEN_RUN.finditer(text))]
    return last[0] if last[1] == len(text) else len(text)
