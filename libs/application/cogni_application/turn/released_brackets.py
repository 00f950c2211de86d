"""The last look at what is released: no closing bracket completes a handle or marker that nobody verified."""

import re

from cogni_application.turn.answer_tokens import CLOSING, OPENING
from cogni_application.turn.lookalikes import forged

MAX_INSIDE = 128

_OPENER = f"[{re.escape(OPENING)}]|%5b|&#(?:0*91|x0*5b);?|&lbrack;|&lsqb;"
_CLOSER = f"[{re.escape(CLOSING)}]|%5d|&#(?:0*93|x0*5d);?|&rbrack;|&rsqb;"
_BRACKET = re.compile(f"({_OPENER})|({_CLOSER})|\n", re.IGNORECASE)


class ReleasedBrackets:
    """Remembers what has been released since brackets opened.

    What is stripped between two pieces lets them close up: `[s` and `1]` around a stripped `[s9]`. So does a
    bracket that is written as a code. A space stands where such a closing bracket was.
    """

    def __init__(self) -> None:
        self._openers: tuple[str, ...] = ()
        self._inside = ""
        self._closer = ""

    def admit(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        """Return what may be released of `text`, and the kind and text of what would have been forged."""
        if not self.concerns(text):
            return text, []
        kept: list[str] = []
        forgeries: list[tuple[str, str]] = []
        at = 0
        for found in _BRACKET.finditer(text):
            self._read(text[at : found.start()])
            kept.append(text[at : found.start()])
            at = found.end()
            forgery = self._bracket(found)
            if forgery is not None:
                self._read(" ")
                forgeries.append(forgery)
            kept.append(found[0] if forgery is None else " ")
        self._read(text[at:])
        return "".join((*kept, text[at:])), forgeries

    def concerns(self, text: str) -> bool:
        """Tell whether a text has anything to do with brackets."""
        return self.are_open or _BRACKET.search(text) is not None

    @property
    def are_open(self) -> bool:
        """Whether what comes next stands in brackets."""
        return bool(self._openers)

    def forget(self) -> None:
        """Begin anew: a line has ended, or a verified token was released, which nothing closes up across."""
        self._openers, self._inside, self._closer = (), "", ""

    def _read(self, text: str) -> None:
        if not self._openers or not text:
            return
        if self._closer or len(self._inside) + len(text) > MAX_INSIDE:
            self.forget()
        else:
            self._inside += text

    def _bracket(self, found: re.Match[str]) -> tuple[str, str] | None:
        """Take a bracket or a line's end; return the kind and text of what it would have forged."""
        opener, closer = found[1], found[2]
        if opener:
            adjacent = () if self._inside or self._closer else self._openers
            self.forget()
            self._openers = (*adjacent, opener)[-2:]
        elif not closer:
            self.forget()
        elif self._openers:
            return self._close(closer)
        return None

    def _close(self, closer: str) -> tuple[str, str] | None:
        whole = f"{''.join(self._openers)}{self._inside}{self._closer}{closer}"
        kind = forged(whole)
        if kind is not None:
            return kind, whole
        if self._closer or len(self._openers) == 1:
            self.forget()
        else:
            self._closer = closer
        return None
