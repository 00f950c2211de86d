"""A surface of plain text: proof that the contract needs no browser."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from cogni_engine import CitationDelta, Delta, PhaseDelta, RunDelta, TokenDelta
from cogni_kernel import encodable
from cogni_surfaces.base import Base, Confirmation, SurfaceCapabilities
from cogni_surfaces.texts import (
    FRESHNESS_UNKNOWN,
    GENERATED_LABEL,
    NO_SOURCES,
    READ_UP_TO,
    Language,
    said,
    said_place,
)

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"\s+")
_HANDLE = re.compile(r"\[(s[1-9][0-9]{0,8})\]", re.ASCII)

Ask = Callable[[str], Awaitable[str]]


async def _nobody(_: str) -> str:
    return ""


class TerminalSurface(Base):
    """Prints what it is given, its sources numbered from 1 in each answer; a change needs the word yes.

    Attributes:
        ask: Shows a question and returns what the person typed.
    """

    id = "terminal"
    capabilities = SurfaceCapabilities(
        streaming=True, confirmation_ui=True, max_output_length=8_000
    )

    def __init__(self, language: Language = Language.EN, ask: Ask = _nobody) -> None:
        super().__init__(language)
        self.ask = ask
        self._cited: list[str] = []

    def render_body(self, outcome: Mapping[str, object]) -> str:
        """Return the text, and why it is none; a terminal can only show it."""
        citations = outcome.get("citations")
        cited = _handles(citations if isinstance(citations, list) else [])
        text = _numbered(plain(outcome.get("text")), cited)
        message = plain(outcome.get("message"))
        return f"{text}\n" if not message or message in text else f"{text}\n{message}\n"

    def render_provenance(self, citations: Sequence[Mapping[str, object]]) -> str:
        if not citations:
            return f"{said(NO_SOURCES, self.language)}\n"
        cited = _handles(citations)
        return "".join(f"{self._source(each, cited)}\n" for each in citations)

    def render_freshness(self, indexed_through: object) -> str:
        if not indexed_through:
            return f"{said(FRESHNESS_UNKNOWN, self.language)}\n"
        return f"{said(READ_UP_TO, self.language)} {plain(indexed_through)}.\n"

    def render_generated_label(self) -> str:
        return f"{said(GENERATED_LABEL, self.language)}\n"

    def stream(self, delta: Delta) -> str | None:
        if isinstance(delta, RunDelta):
            self._cited = []
        if isinstance(delta, CitationDelta):
            self._cited.append(delta.handle)
        if isinstance(delta, TokenDelta):
            return _numbered(plain(delta.text), self._cited)
        if isinstance(delta, PhaseDelta):
            return f"{said(delta.detail, self.language)}…\n"
        return None

    async def confirm(self, proposal: Mapping[str, object]) -> Confirmation:
        """List what would change, and until when; anything but a clear yes declines."""
        answer = await self.ask(proposal_text(proposal, self.language))
        agreed = answer.strip().casefold() in ("yes", "ja")
        return Confirmation.ACCEPTED if agreed else Confirmation.DECLINED

    def _source(self, citation: Mapping[str, object], cited: Sequence[str]) -> str:
        place = said_place(_line(citation.get("locator")), self.language)
        names = ", ".join(filter(None, (_line(citation.get("label")), place)))
        return f"[{cited.index(_line(citation.get('handle'))) + 1}] {names}"


def proposal_text(proposal: Mapping[str, object], language: Language) -> str:
    """Return a proposal as lines: what, every step, until when, and the question."""
    rendering = proposal.get("rendering")
    shown = rendering if isinstance(rendering, Mapping) else {}
    steps = shown.get("steps")
    listed = [
        f"  {_line(step.get('title'))}: {_line(step.get('detail'))}"
        for step in (steps if isinstance(steps, list) else [])
    ]
    until, question = {
        Language.EN: ("Until", "Type yes to accept, anything else to decline: "),
        Language.DE: ("Bis", "Zum Annehmen ja eingeben, alles andere lehnt ab: "),
    }[language]
    return "\n".join(
        [
            _line(shown.get("title")),
            *listed,
            f"{until} {_line(proposal.get('expires_at'))}.",
            question,
        ]
    )


def _handles(citations: Sequence[Mapping[str, object]]) -> list[str]:
    """Return each handle once: handles count through a conversation, the sources of an answer from 1."""
    return list(dict.fromkeys(_line(citation.get("handle")) for citation in citations))


def _numbered(text: str, cited: Sequence[str]) -> str:
    """Return a text with the number of each source in place of its handle; one that is not cited goes."""
    return _HANDLE.sub(lambda m: f"[{cited.index(m[1]) + 1}]" if m[1] in cited else "", text)


def plain(value: object) -> str:
    """Return text without what moves a cursor, recolours a screen or rings."""
    return _CONTROLS.sub("", encodable("" if value is None else str(value)))


def _line(value: object) -> str:
    return _BREAKS.sub(" ", plain(value)).strip()
