"""How a tool pushes a widget: store it, deliver it, hand back its marker."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime

from cogni_engine.channel.envelope import ChannelKey, Delivered, DeliveryOutcome, Envelope
from cogni_engine.channel.marker import Marker
from cogni_engine.channel.reference_store import ReferenceStore
from cogni_engine.channel.renderables import Renderable

ANSWER = "answer"


class Broadcaster(ABC):
    """One person's view of one conversation.

    Source:
        COGNI.BUILD spec, package channel, "Broadcaster".
    """

    def __init__(
        self, channel_key: ChannelKey, store: ReferenceStore, now: Callable[[], datetime]
    ) -> None:
        self.channel_key = channel_key
        self._store = store
        self._now = now

    async def publish(self, payload: Renderable) -> Marker:
        """Keep and deliver `payload`; a failed delivery loses nothing, the marker still resolves."""
        marker = await self._store.put(self.channel_key, payload)
        await self.deliver(Envelope(self.channel_key, marker, payload, ANSWER, self._now()))
        return marker

    @abstractmethod
    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        """Hand the envelope to whatever listens on its key."""


class NullBroadcaster(Broadcaster):
    """For callers without a surface: payloads are captured, tools need no branch for it."""

    def __init__(
        self, channel_key: ChannelKey, store: ReferenceStore, now: Callable[[], datetime]
    ) -> None:
        super().__init__(channel_key, store, now)
        self._captured: list[Envelope] = []

    async def deliver(self, envelope: Envelope) -> DeliveryOutcome:
        self._captured.append(envelope)
        return Delivered()

    def captured(self) -> tuple[Envelope, ...]:
        """Return what was published, in order."""
        return tuple(self._captured)
