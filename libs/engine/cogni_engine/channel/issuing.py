"""A channel as one call has it: it remembers what the call showed."""

from typing import Protocol

from cogni_engine.channel.marker import Marker
from cogni_engine.channel.renderables import Renderable


class Shows(Protocol):
    """What stands behind: a run's own channel."""

    async def publish(self, payload: Renderable) -> Marker:
        """Show `payload`; return its marker."""
        ...

    async def keep(self, payload: Renderable) -> Marker:
        """Keep `payload` without showing it; return its marker."""
        ...


class Issuing:
    """Passes everything on, and knows the markers that came of it."""

    def __init__(self, channel: Shows) -> None:
        self._channel = channel
        self._issued: set[Marker] = set()

    async def publish(self, payload: Renderable) -> Marker:
        """Show `payload`; return its marker."""
        marker = await self._channel.publish(payload)
        self._issued.add(marker)
        return marker

    async def keep(self, payload: Renderable) -> Marker:
        """Keep `payload` without showing it; return its marker."""
        return await self._channel.keep(payload)

    def issued(self, marker: Marker) -> bool:
        """Tell whether it was this call that showed what the marker stands for."""
        return marker in self._issued
