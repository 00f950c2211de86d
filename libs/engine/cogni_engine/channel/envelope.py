"""What travels to a surface, and what became of it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from cogni_engine.channel.marker import Marker
from cogni_engine.channel.renderables import Renderable
from cogni_kernel import Error


@dataclass(frozen=True, slots=True)
class ChannelKey:
    """The address of one person's view of one conversation: derived, never chosen by a tool."""

    value: str

    @staticmethod
    def derive(conversation: str, reader: str) -> "ChannelKey":
        """Return the one key of this conversation and this reader.

        Args:
            conversation: Its id, unique among all that share a reference store.
            reader: The person's id, qualified likewise: with the tenant where a store is shared by tenants.
        """
        framed = f"{len(conversation)}:{conversation}{reader}"
        return ChannelKey(hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32])


@dataclass(frozen=True, slots=True)
class Envelope:
    """One payload on its way. `target` names a region of the surface, which need not be a DOM."""

    channel_key: ChannelKey
    marker: Marker
    payload: Renderable
    target: str
    issued_at: datetime


@dataclass(frozen=True, slots=True)
class Delivered:
    """A surface took it."""


@dataclass(frozen=True, slots=True)
class NoListener:
    """Nobody looks; not an error, the payload stays in the reference store."""


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """The channel broke; the payload stays in the reference store."""

    error: Error


DeliveryOutcome: TypeAlias = Delivered | NoListener | DeliveryFailed
