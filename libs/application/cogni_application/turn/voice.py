"""What of a run reaches its stream: verified text, and the widgets and sources that stand in it."""

from collections.abc import Callable
from datetime import datetime

from cogni_application.turn.ground import AnswerGuard, Evidence
from cogni_domain.run_record import StripStep
from cogni_engine import (
    Broadcaster,
    BroadcastStep,
    ChannelKey,
    CitationDelta,
    Delivered,
    DeliveryOutcome,
    Delta,
    EngineStep,
    Envelope,
    Marker,
    MarkerDelta,
    ReferenceStore,
    Renderable,
    TokenDelta,
    ToolCompletedDelta,
)


class RunVoice:
    """Stands between the engine's emitter and the run's stream.

    Text is withheld, and given up, for as long as the run holds neither a passage nor a tool's datum: what a
    model says then is from memory.

    Source:
        DESIGN, "When retrieval runs", D6.
    """

    def __init__(
        self,
        publish: Callable[[Delta], None],
        evidence: Evidence,
        holds_evidence: Callable[[], bool],
    ) -> None:
        self.guard = AnswerGuard(evidence)
        self.withheld = 0
        self._publish = publish
        self._holds_evidence = holds_evidence
        self._cited = 0
        self._paragraph_due = False

    def hear(self, delta: Delta) -> None:
        """Take what the engine emits."""
        if isinstance(delta, TokenDelta):
            self._hear_text(delta.text)
            return
        if isinstance(delta, ToolCompletedDelta):
            self._paragraph_due = bool(self.guard.text)
        self._publish(delta)

    def _hear_text(self, text: str) -> None:
        if not self._holds_evidence():
            self.withheld += len(text)
            return
        if self._paragraph_due:
            self._paragraph_due = False
            text = "\n\n" + text
        self._show(self.guard.feed(text))

    def say(self, text: str) -> None:
        """Show the product's own words: a refusal."""
        self.finish()
        self.guard.text += text
        self._publish(TokenDelta(text))

    def finish(self) -> tuple[StripStep, ...]:
        """Show what was held back; return what was stripped."""
        self._show(self.guard.finish())
        return tuple(self.guard.stripped)

    def _show(self, text: str) -> None:
        for citation in self.guard.cited[self._cited :]:
            self._publish(CitationDelta(citation.handle.token, citation.label, citation.locator))
        self._cited = len(self.guard.cited)
        if text:
            self._publish(TokenDelta(text))


class RunBroadcaster(Broadcaster):
    """Widgets of one run, pushed into its stream."""

    def __init__(
        self,
        key: ChannelKey,
        store: ReferenceStore,
        now: Callable[[], datetime],
        publish: Callable[[Delta], None],
        record: Callable[[EngineStep], None],
    ) -> None:
        super().__init__(key, store, now)
        self.issued: dict[Marker, Renderable] = {}
        self._publish = publish
        self._record = record

    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        self.issued[envelope.marker] = envelope.payload
        payload = envelope.payload.to_payload()
        self._publish(MarkerDelta(str(envelope.marker), envelope.marker.kind.name, payload))
        self._record(BroadcastStep(str(envelope.marker), "delivered"))
        return Delivered()
