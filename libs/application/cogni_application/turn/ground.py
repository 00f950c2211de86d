"""Nothing unverified reaches the glass: handles, markers and addresses are checked while they stream."""

import html
import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

from cogni_application.addresses import address_in, canonical_url, without_tracking
from cogni_application.turn.answer_tokens import (
    ADDRESS_GOES_ON,
    CLOSING,
    MAX_GROUP,
    OPENING,
    Broken,
    Group,
    Other,
    Token,
    Word,
    next_token,
)
from cogni_application.turn.hidden_stream import HiddenTextStream
from cogni_application.turn.lookalikes import forged
from cogni_application.turn.released_brackets import ReleasedBrackets
from cogni_domain.knowledge.citations import Citation, Unissued
from cogni_domain.run_record import StripStep
from cogni_engine import Marker

PIECE = 4096

_HANDLE = re.compile("s[0-9]+", re.ASCII)
_HANDLES = re.compile(r"\[s[0-9]+(?: ?[,;] ?s[0-9]+)*\]", re.ASCII)
_LONGEST_BEFORE = 64
_PLAIN = re.compile(r"(?:[a-z0-9]{1,64} )+", re.ASCII | re.IGNORECASE)
_APART = re.compile(r"[\s<>\"`|\[\]\uff3b\uff3d]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a run has issued so far, asked anew at every token.

    Attributes:
        resolve_handle: A handle's citation in this run, or UNISSUED.
        is_resolvable: Whether a marker stands for something this run published.
        retrieved_urls: The canonical URLs that retrieval or a tool returned in this run.
    """

    resolve_handle: Callable[[str], Citation | Unissued]
    is_resolvable: Callable[[Marker], bool]
    retrieved_urls: Callable[[], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person was shown: the text, and the sources and widgets that stand in it, in order."""

    text: str
    cited: tuple[Citation, ...] = ()
    markers: tuple[Marker, ...] = ()


class AnswerGuard:
    """Turns what a model writes into what a person may see.

    A token is held back until it is whole, then released, or stripped and recorded. What comes out is the same
    for every way of cutting the stream.

    Attributes:
        cited: The citations that were released, in order of appearance, each once.
        markers: The markers that were released, in order of appearance.
        stripped: What was kept back, for the run record.

    Source:
        DESIGN D6, D20.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.cited: list[Citation] = []
        self.markers: list[Marker] = []
        self.stripped: list[StripStep] = []
        self._evidence = evidence
        self._hidden = HiddenTextStream()
        self._held = ""
        self._brackets = ReleasedBrackets()
        self._shown: list[str] = []
        self._before = ""

    @property
    def shown(self) -> Shown:
        """All that was released so far."""
        self._shown = ["".join(self._shown)]
        return Shown(self._shown[0], tuple(self.cited), tuple(self.markers))

    def feed(self, text: str) -> str:
        """Take more of the answer; return what may be shown now."""
        pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
        return "".join(self._take(self._hidden.feed(piece), final=False) for piece in pieces)

    def finish(self) -> str:
        """Return what was held back: nothing belongs to it any more. An answer may go on afterwards."""
        return self._take(self._hidden.finish(), final=True)

    def add(self, text: str) -> None:
        """Count words of the product's own among what was shown."""
        self._shown.append(text)

    def _take(self, text: str, *, final: bool) -> str:
        out: list[str] = []
        held, at = self._held + text, 0
        while at < len(held):
            if (plain := self._plain(held, at)) > at:
                out.append(held[at:plain])
                at = plain
                continue
            if (token := next_token(held, at, final=final)) is None:
                break
            shown, again = self._judge(token)
            out.append(shown)
            at += len(token.raw)
            if again:
                held, at = again + held[at:], 0
        self._held = held[at:]
        self._shown.extend(out)
        return "".join(out)

    def _plain(self, held: str, at: int) -> int:
        """Return where whole words end that nothing can be made of: letters, digits and single spaces alone."""
        if self._before or self._brackets.are_open:
            return at
        found = _PLAIN.match(held, at)
        return found.end() if found else at

    def _judge(self, token: Token) -> tuple[str, str]:
        """Return what is shown of a token, and what of it is to be cut and judged anew."""
        match token:
            case Other(text):
                return self._released(self._apart(text[0]) + text), ""
            case Word(text):
                apart = self._released(self._apart(text))
                return apart + self._released_word(self._without_foreign_address(text)), ""
            case Broken(text):
                kind = forged(text)
                return ("", self._strip(kind, text)) if kind else self._opened(text)
            case Group():
                return self._group(token)

    def _group(self, group: Group) -> tuple[str, str]:
        link = group.raw[len(group.text) :]
        judged = self._reference(group.text)
        if judged is not None:
            return judged + self._strip("url", link), ""
        if group.address is None or self._as_retrieved(group.address) is not None:
            return self._opened(group.raw)
        return self._strip("url", link), group.text.strip(OPENING + CLOSING)

    def _opened(self, text: str) -> tuple[str, str]:
        return self._released(text[0]), text[1:]

    def _reference(self, text: str) -> str | None:
        """Return what is shown of handles or a marker, or of what passes for one; None for other text."""
        if _HANDLES.fullmatch(text):
            return "".join(map(self._handle, _HANDLE.findall(text)))
        marker = Marker.parse(text)
        if marker is not None and self._evidence.is_resolvable(marker):
            self.markers.append(marker)
            return self._genuine(text)
        kind = forged(text)
        return None if kind is None else self._strip(kind, text)

    def _handle(self, handle: str) -> str:
        citation = self._evidence.resolve_handle(handle)
        if isinstance(citation, Unissued):
            return self._strip("citation", f"[{handle}]")
        if citation not in self.cited:
            self.cited.append(citation)
        return self._genuine(f"[{handle}]")

    def _apart(self, text: str) -> str:
        """Return the space that keeps a text from making an address of what was released before it."""
        if not (self._before and ADDRESS_GOES_ON.fullmatch(text[0])):
            return ""
        joined = self._before + text
        found = address_in(joined) or address_in(_decoded(joined))
        return " " if found is not None and found.start < len(self._before) else ""

    def _without_foreign_address(self, word: str) -> str:
        """Strip an address that was not retrieved; also one in codes, with all that it is written in."""
        address = address_in(word)
        if address is None:
            return word if address_in(_decoded(word)) is None else self._strip("url", word)
        before, after = word[: address.start], word[address.start + len(address.text) :]
        shown = self._as_retrieved(address.text)
        if shown is None:
            return before + self._strip("url", address.text) + after
        if shown != address.text:
            self._strip("tracking", address.text)
        return before + shown + after

    def _as_retrieved(self, address: str) -> str | None:
        """Return an address that was retrieved, also where parameters that only track were added to it: without them."""
        forms = (address, without_tracking(address))
        return next((form for form in forms if self._is_retrieved(form)), None)

    def _is_retrieved(self, address: str) -> bool:
        forms = {canonical_url(address), canonical_url(html.unescape(address))}
        return not forms.isdisjoint(self._evidence.retrieved_urls())

    def _released(self, text: str) -> str:
        kept, forgeries = self._brackets.admit(text)
        for kind, forgery in forgeries:
            self._strip(kind, forgery)
        self._before = _word_at_end(self._before + kept)
        return kept

    def _released_word(self, word: str) -> str:
        """A word that completes a handle by a bracket in code goes as a whole."""
        if not self._brackets.concerns(word):
            return self._released(word)
        before = copy(self._brackets)
        _, forgeries = before.admit(word)
        return self._strip(forgeries[0][0], word) if forgeries else self._released(word)

    def _genuine(self, text: str) -> str:
        self._brackets.forget()
        self._before = text
        return text

    def _strip(self, kind: str, text: str) -> str:
        if text:
            self.stripped.append(StripStep(kind, text[:MAX_GROUP]))
        return ""


def _word_at_end(text: str) -> str:
    """Return what an address may go on from: the last characters of a text that nothing parts."""
    tail = text[-_LONGEST_BEFORE:]
    return "" if not tail or _APART.match(tail[-1]) else _APART.split(tail)[-1]


def _decoded(word: str) -> str:
    return html.unescape(word).replace("\\", "/")
