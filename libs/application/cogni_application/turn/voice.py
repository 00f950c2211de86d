"""What of a run reaches its stream: verified text, and the widgets and sources that stand in it."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime

from cogni_application.turn.ground import Evidence, Shown
from cogni_application.turn.permitted import PermittedAnswer
from cogni_domain.governance.output_policy import OutputPolicy, Prohibition
from cogni_domain.run_record import Step
from cogni_engine import (
    Broadcaster,
    ChannelKey,
    CitationDelta,
    Delivered,
    DeliveryOutcome,
    Delta,
    Envelope,
    Marker,
    MarkerDelta,
    NoListener,
    ReferenceStore,
    TokenDelta,
)

Publish = Callable[[Delta], None]
Record = Callable[[Step], None]


class RunVoice:
    """Stands between the engine's emitter and the run's stream.

    Text is withheld, and given up, for as long as the run holds neither a passage nor a tool's datum: what a
    model says then is from memory.

    Source:
        DESIGN, "When retrieval runs", D6.
    """

    def __init__(
        self,
        publish: Publish,
        record: Record,
        evidence: Evidence,
        holds_evidence: Callable[[], bool],
        policy: OutputPolicy,
    ) -> None:
        self._guard = PermittedAnswer(evidence, policy)
        self._publish = publish
        self._record = record
        self._holds_evidence = holds_evidence
        self._cited = 0
        self._stripped = 0
        self._paragraph_due = False

    @property
    def shown(self) -> Shown:
        """All that was shown so far."""
        return self._guard.shown

    @property
    def blocked(self) -> Prohibition | None:
        """What the model said that is prohibited: nothing of its is shown from there on."""
        return self._guard.blocked

    def hear(self, delta: Delta) -> None:
        """Take what the engine emits. What is not text ends the text before it, which is judged by then."""
        if isinstance(delta, TokenDelta):
            self._hear_text(delta.text)
            return
        self.finish()
        self._publish(delta)

    def _hear_text(self, text: str) -> None:
        if not self._holds_evidence():
            return
        if self._paragraph_due:
            text = f"\n\n{text}"
            self._paragraph_due = False
        self._show(self._guard.feed(text))

    def say(self, text: str) -> None:
        """Show the product's own words, in a paragraph of their own."""
        self.finish()
        own = f"\n\n{text}" if self._paragraph_due else text
        self._guard.add(own)
        self._publish(TokenDelta(own))

    def finish(self) -> None:
        """Show what was held back; what comes after it begins a paragraph."""
        self._show(self._guard.finish())
        self._paragraph_due = bool(self._guard.shown.text.strip())

    def _show(self, text: str) -> None:
        for step in self._guard.stripped[self._stripped :]:
            self._record(step)
        self._stripped = len(self._guard.stripped)
        for citation in self._guard.cited[self._cited :]:
            self._publish(CitationDelta(citation.handle.token, citation.label, citation.locator))
        self._cited = len(self._guard.cited)
        if text:
            self._publish(TokenDelta(text))


class RunBroadcaster(Broadcaster):
    """Widgets of one run, pushed into its stream, whatever its readers have it encoded as.

    Where nobody reads in this process it says so, and loses nothing: whoever comes later finds it in the log.

    Attributes:
        issued: What each marker of this run stands for, as JSON values.
    """

    def __init__(
        self,
        key: ChannelKey,
        store: ReferenceStore,
        now: Callable[[], datetime],
        publish: Publish,
        record: Record,
        is_read: Callable[[], bool],
    ) -> None:
        super().__init__(key, store, now, record)
        self._is_read = is_read
        self.issued: dict[Marker, Mapping[str, object]] = {}
        self._publish = publish

    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        payload = json.loads(json.dumps(envelope.payload.to_payload(), allow_nan=False))
        self.issued[envelope.marker] = payload
        self._publish(MarkerDelta(str(envelope.marker), envelope.marker.kind.name, payload))
        return Delivered() if self._is_read() else NoListener()

    async def pin(self, markers: tuple[Marker, ...]) -> None:
        """Keep for good what the sealed run shows."""
        await self._store.pin(self.channel_key, markers)
