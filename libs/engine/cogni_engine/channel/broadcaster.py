"""How a tool pushes a widget: store it, deliver it, hand back its marker."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime

from cogni_engine.channel.envelope import (
    ChannelKey,
    Delivered,
    DeliveryFailed,
    DeliveryOutcome,
    Envelope,
)
from cogni_engine.channel.marker import Marker
from cogni_engine.channel.reference_store import ReferenceStore
from cogni_engine.channel.renderables import Renderable
from cogni_engine.guard import guarded
from cogni_engine.steps import BroadcastStep
from cogni_kernel import Error, HumanText

ANSWER = "answer"
UNDELIVERED = HumanText("A part of the answer could not be shown at once. Open the page again.")


class Broadcaster(ABC):
    """One person's view of one conversation.

    Source:
        COGNI.BUILD spec, package channel, "Broadcaster".
    """

    def __init__(
        self,
        channel_key: ChannelKey,
        store: ReferenceStore,
        now: Callable[[], datetime],
        on_step: Callable[[BroadcastStep], None] | None = None,
    ) -> None:
        self._channel_key = channel_key
        self._store = store
        self._now = now
        self._on_step = on_step or (lambda _: None)

    @property
    def channel_key(self) -> ChannelKey:
        """The one address that this broadcaster publishes to."""
        return self._channel_key

    async def publish(self, payload: Renderable) -> Marker:
        """Keep and deliver `payload`; a failed delivery loses nothing, the marker still resolves."""
        marker = await self._store.put(self._channel_key, payload)
        envelope = Envelope(self._channel_key, marker, payload, ANSWER, self._now())
        delivered = await guarded(lambda: self.deliver(envelope), UNDELIVERED)
        outcome = DeliveryFailed(delivered) if isinstance(delivered, Error) else delivered
        self._on_step(BroadcastStep(str(marker), type(outcome).__name__))
        return marker

    async def keep(self, payload: Renderable) -> Marker:
        """Keep `payload` without showing it; the marker is for who looks into the run."""
        return await self._store.put(self._channel_key, payload)

    @abstractmethod
    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        """Hand the envelope to whatever listens on its key."""


class NullBroadcaster(Broadcaster):
    """For callers without a surface: payloads are captured, tools need no branch for it."""

    def __init__(
        self,
        channel_key: ChannelKey,
        store: ReferenceStore,
        now: Callable[[], datetime],
        on_step: Callable[[BroadcastStep], None] | None = None,
    ) -> None:
        super().__init__(channel_key, store, now, on_step)
        self._captured: list[Envelope] = []

    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        self._captured.append(envelope)
        return Delivered()

    def captured(self) -> tuple[Envelope, ...]:
        """Return what was published, in order."""
        return tuple(self._captured)
