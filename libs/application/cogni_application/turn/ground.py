"""Nothing unverified reaches the glass: handles, markers and URLs are checked while they stream.

The text is cut into tokens whose end never depends on how the stream was split; a token is held back until
it is whole, then released, or stripped and recorded.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from cogni_application.turn.hidden_stream import HiddenTextStream
from cogni_domain.knowledge.citations import Citation, Unissued
from cogni_domain.run_record import StripStep
from cogni_engine import Marker, MarkerKind

MAX_BRACKET = 300
MAX_RUN = 2048

_OPENERS = "[\uff3b"
_CLOSERS = "]\uff3d"
_RUN = re.compile(r"[A-Za-z0-9%&#;:/?@=+._~!$'*,()\-]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
_WWW = re.compile(r"www\.[A-Za-z0-9]", re.IGNORECASE)
_HANDLE = re.compile(r"\[(s[1-9][0-9]{0,8})\]", re.ASCII)
_HANDLE_LIKE = re.compile(r"s[0-9][0-9a-z.]*", re.ASCII)
_MARKER_LIKE = re.compile(r"([A-Za-z]{2,16}):", re.ASCII)
_ENCODED = re.compile(r"(?:%5b|&#(?:91|x5b);|&lbrack;|&lsqb;)", re.IGNORECASE)
_TRAILING = ".,;:!?'*_)"
_KINDS = frozenset(kind.name for kind in MarkerKind)
_LOOKALIKES = str.maketrans("ѕсаеортїіАВЕКМНОРСТХѕ", "scaeoptiiABEKMHOPCTXs")


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


@dataclass
class AnswerGuard:
    """Turns what a model writes into what a person may see.

    Attributes:
        text: All that was released.
        cited: The citations that were released, in order of appearance.
        markers: The markers that were released, in order of appearance.
        stripped: What was kept back, for the run record.

    Source:
        DESIGN D6, D20.
    """

    evidence: Evidence
    text: str = ""
    cited: list[Citation] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    stripped: list[StripStep] = field(default_factory=list)
    _hidden: HiddenTextStream = field(default_factory=HiddenTextStream)
    _held: str = ""

    def feed(self, text: str) -> str:
        """Take more of the answer; return what may be shown now."""
        self._held += self._hidden.feed(text)
        return self._release(final=False)

    def finish(self) -> str:
        """Return the rest: nothing comes after it."""
        self._held += self._hidden.finish()
        return self._release(final=True)

    def _release(self, *, final: bool) -> str:
        out: list[str] = []
        at = 0
        while at < len(self._held):
            token = self._token(self._held, at, final=final)
            if token is None:
                break
            shown, at = token
            out.append(shown)
        self._held = self._held[at:]
        released = "".join(out)
        self.text += released
        return released

    def _token(self, text: str, at: int, *, final: bool) -> tuple[str, int] | None:
        """Return what is shown of the token at `at` and where the next begins; None while it is not whole."""
        if text[at] in _OPENERS:
            return self._bracket(text, at, final=final)
        run = _RUN.match(text, at, at + MAX_RUN)
        if run is None:
            return text[at], at + 1
        if run.end() == len(text) and run.end() - at < MAX_RUN and not final:
            return None
        return self._checked_run(run[0]), run.end()

    def _bracket(self, text: str, at: int, *, final: bool) -> tuple[str, int] | None:
        end = _closing(text, at)
        if end is None and not final and len(text) - at < MAX_BRACKET and "\n" not in text[at:]:
            return None
        if end is None:
            return self._unclosed(text, at)
        if end == len(text) and not final:
            return None
        whole = text[at:end]
        target = _link_target(text, end)
        if target is None and not final and _may_become_link(text, end):
            return None
        shown = self._checked_bracket(whole)
        if shown is not None:
            return shown, end if target is None else end + len(target)
        if target is not None:
            return self._checked_link(whole, target), end + len(target)
        return text[at], at + 1

    def _unclosed(self, text: str, at: int) -> tuple[str, int]:
        stop = text.find("\n", at, at + MAX_BRACKET)
        whole = text[at : stop if stop >= 0 else at + MAX_BRACKET]
        if whole.startswith(("[[", "［［")) and _looks_like_marker(_plain(whole)):
            return self._strip("marker", whole), at + len(whole)
        return text[at], at + 1

    def _checked_bracket(self, whole: str) -> str | None:
        """Return what is shown of a handle or marker, or of what pretends to be one; None for other text."""
        exact = _HANDLE.fullmatch(whole)
        if exact is not None:
            citation = self.evidence.resolve_handle(exact[1])
            if isinstance(citation, Unissued):
                return self._strip("citation", whole)
            if citation not in self.cited:
                self.cited.append(citation)
            return whole
        marker = Marker.parse(whole)
        if marker is not None and self.evidence.is_resolvable(marker):
            self.markers.append(marker)
            return whole
        plain = _plain(whole)
        if marker is not None or _looks_like_marker(plain):
            return self._strip("marker", whole)
        if _HANDLE_LIKE.fullmatch(plain.strip("[] ").casefold()):
            return self._strip("citation", whole)
        return None

    def _checked_link(self, label: str, target: str) -> str:
        """A link stays where its address was retrieved; else its label stays, as text."""
        address = target[1:-1].split(" ", maxsplit=1)[0].strip("<>")
        if canonical_url(address) in self.evidence.retrieved_urls():
            return label + target
        self._strip("url", target)
        inner = AnswerGuard(self.evidence)
        shown = inner.feed(label[1:-1]) + inner.finish()
        self.cited.extend(c for c in inner.cited if c not in self.cited)
        self.markers.extend(inner.markers)
        self.stripped.extend(inner.stripped)
        return shown

    def _checked_run(self, run: str) -> str:
        if _ENCODED.search(run):
            run = self._without_encoded(run)
        found = _SCHEME.search(run) or _WWW.search(run)
        if found is None:
            return run
        start = found.start()
        address = run[start:].rstrip(_TRAILING)
        after = run[start + len(address) :]
        if canonical_url(address) in self.evidence.retrieved_urls():
            return run
        return run[:start] + self._strip("url", address) + after

    def _without_encoded(self, run: str) -> str:
        """Strip a run that hides a handle or marker behind percent or entity codes."""
        plain = _plain(run)
        hides = re.search(r"\[+s[0-9]", plain) or re.search(r"\[\[[A-Za-z]{2,16}:", plain)
        return self._strip("citation", run) if hides else run

    def _strip(self, kind: str, text: str) -> str:
        self.stripped.append(StripStep(kind, text[:MAX_BRACKET]))
        return ""


def canonical_url(url: str) -> str:
    """Return the one form in which URLs are compared: scheme and host folded, no fragment, no last slash."""
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        host = (parts.hostname or "").encode("idna").decode("ascii") if parts.hostname else ""
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    except (ValueError, UnicodeError):
        return url
    path = unquote(parts.path).rstrip("/")
    return urlunsplit((parts.scheme.casefold(), host + port, path, parts.query, ""))


def _closing(text: str, at: int) -> int | None:
    """Return where the bracket that opens at `at` is closed, within a line and a bound."""
    depth = 0
    for i in range(at, min(len(text), at + MAX_BRACKET)):
        if text[i] in _OPENERS:
            depth += 1
        elif text[i] in _CLOSERS:
            depth -= 1
            if depth == 0:
                return i + 1
        elif text[i] == "\n":
            return None
    return None


def _link_target(text: str, at: int) -> str | None:
    match = re.compile(r"\([^()\n]{0,2000}\)").match(text, at)
    return match[0] if match else None


def _may_become_link(text: str, at: int) -> bool:
    return re.compile(r"\([^()\n]{0,2000}\Z").match(text, at) is not None


def _plain(text: str) -> str:
    """Undo what makes one thing look like another: codes, widths, look-alike letters, invisible characters."""
    decoded = unicodedata.normalize("NFKC", html.unescape(unquote(text))).translate(_LOOKALIKES)
    return "".join(c for c in decoded if unicodedata.category(c) not in ("Cf", "Cc", "Mn"))


def _looks_like_marker(plain: str) -> bool:
    if not plain.startswith("[["):
        return False
    name = _MARKER_LIKE.match(plain.strip("[] "))
    return name is not None and (name[1].isupper() or name[1].upper() in _KINDS)
