"""A surface of plain text: proof that the contract needs no browser."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from cogni_engine import Delta, PhaseDelta, TokenDelta
from cogni_kernel import encodable
from cogni_surfaces.base import Base, Confirmation, SurfaceCapabilities
from cogni_surfaces.texts import (
    FRESHNESS_UNKNOWN,
    GENERATED_LABEL,
    NO_SOURCES,
    READ_UP_TO,
    Language,
    said,
)

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"\s+")

Ask = Callable[[str], Awaitable[str]]


async def _nobody(_: str) -> str:
    return ""


class TerminalSurface(Base):
    """Prints what it is given; a change needs the word yes.

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

    def render_body(self, outcome: Mapping[str, object]) -> str:
        """Return the text, and why it is none; a terminal can only show it."""
        text, message = plain(outcome.get("text")), plain(outcome.get("message"))
        return f"{text}\n" if not message or message in text else f"{text}\n{message}\n"

    def render_provenance(self, citations: Sequence[Mapping[str, object]]) -> str:
        if not citations:
            return f"{said(NO_SOURCES, self.language)}\n"
        return "".join(f"{self._source(citation)}\n" for citation in citations)

    def render_freshness(self, indexed_through: object) -> str:
        if not indexed_through:
            return f"{said(FRESHNESS_UNKNOWN, self.language)}\n"
        return f"{said(READ_UP_TO, self.language)} {plain(indexed_through)}.\n"

    def render_generated_label(self) -> str:
        return f"{said(GENERATED_LABEL, self.language)}\n"

    def stream(self, delta: Delta) -> str | None:
        if isinstance(delta, TokenDelta):
            return plain(delta.text)
        if isinstance(delta, PhaseDelta):
            return f"{said(delta.detail, self.language)}…\n"
        return None

    async def confirm(self, proposal: Mapping[str, object]) -> Confirmation:
        """List what would change, and until when; anything but a clear yes declines."""
        answer = await self.ask(proposal_text(proposal, self.language))
        agreed = answer.strip().casefold() in ("yes", "ja")
        return Confirmation.ACCEPTED if agreed else Confirmation.DECLINED

    @staticmethod
    def _source(citation: Mapping[str, object]) -> str:
        names = (_line(citation.get(part)) for part in ("label", "locator"))
        return f"[{_line(citation.get('handle'))}] {', '.join(filter(None, names))}"


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


def plain(value: object) -> str:
    """Return text without what moves a cursor, recolours a screen or rings."""
    return _CONTROLS.sub("", encodable("" if value is None else str(value)))


def _line(value: object) -> str:
    return _BREAKS.sub(" ", plain(value)).strip()
