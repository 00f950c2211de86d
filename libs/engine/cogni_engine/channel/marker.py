"""The token that a model receives in place of a widget, and places in its prose."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class MarkerKind(Enum):
    """What kind of widget a marker stands for; the value is the prefix of its reference."""

    CHART = "c"
    TIMELINE = "t"
    REPORT = "r"
    PLAN = "p"
    THEME = "h"
    TABLE = "b"
    IMAGE = "i"
    HIGHLIGHT = "l"


_MARKER = re.compile(r"\[\[([A-Z]{1,16}):([a-z][1-9][0-9]{0,8})\]\]", re.ASCII)
_MARKER_AT_END = re.compile(_MARKER.pattern + r"\Z", re.ASCII)
_UP_TO_CLOSING = re.compile(r"[^\]]*\]|[^\]]+\Z")
_LONGEST = 2 + 16 + 1 + 10 + 2


@dataclass(frozen=True, slots=True)
class Marker:
    """`[[CHART:c3]]`: short, since the model reproduces it to the letter.

    Source:
        COGNI.BUILD spec, package channel, "Marker".
    """

    kind: MarkerKind
    ref: str

    def __post_init__(self) -> None:
        if not re.fullmatch(rf"{self.kind.value}[1-9][0-9]{{0,8}}", self.ref, re.ASCII):
            raise ValueError(
                f"a {self.kind.name} reference is like {self.kind.value}3: {self.ref!r}"
            )

    def __str__(self) -> str:
        return f"[[{self.kind.name}:{self.ref}]]"

    @staticmethod
    def parse(text: str) -> "Marker | None":
        """Read one marker, exactly; None where it is anything else."""
        match = _MARKER.fullmatch(text)
        return _marker(match) if match else None

    @staticmethod
    def scan(text: str) -> tuple["Marker", ...]:
        """Return the markers in `text`, in order, repeats included."""
        return tuple(m for m in map(_marker, _MARKER.finditer(text)) if m is not None)

    @staticmethod
    def strip_unresolved(
        text: str, is_resolvable: Callable[["Marker"], bool]
    ) -> tuple[str, tuple[str, ...]]:
        """Remove what cannot be resolved; return the clean text and what was removed, to be recorded.

        What closes up around a removed marker is looked at again: no marker is left that was not resolved.
        """
        removed: list[str] = []
        clean = ""
        for piece in _UP_TO_CLOSING.findall(text):
            clean += piece
            match = _MARKER_AT_END.search(clean, max(0, len(clean) - _LONGEST))
            if match is None or _is_kept(match, is_resolvable):
                continue
            removed.append(match[0])
            clean = clean[: match.start()]
        return clean, tuple(removed)

    @staticmethod
    def disarm(text: str, is_own: Callable[["Marker"], bool]) -> tuple[str, tuple[str, ...]]:
        """Return the text in which only own markers are markers, and the others that were in it.

        They stay readable, in round brackets, and nothing else moves.
        """
        foreign: dict[str, None] = {}

        def judged(match: re.Match[str]) -> str:
            if _is_kept(match, is_own):
                return match[0]
            foreign[match[0]] = None
            return f"(({match[0][2:-2]}))"

        return _MARKER.sub(judged, text), tuple(foreign)


def _is_kept(match: re.Match[str], is_resolvable: Callable[[Marker], bool]) -> bool:
    marker = _marker(match)
    return marker is not None and is_resolvable(marker)


def _marker(match: re.Match[str]) -> Marker | None:
    try:
        return Marker(MarkerKind[match[1]], match[2])
    except (KeyError, ValueError):
        return None
