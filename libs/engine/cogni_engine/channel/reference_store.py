"""Keeps payloads, hands out references: what was shown outlives the page and the turn."""

from collections import OrderedDict
from enum import Enum
from typing import Protocol

from cogni_engine.channel.envelope import ChannelKey
from cogni_engine.channel.marker import Marker
from cogni_engine.channel.renderables import Renderable

MAX_PER_BUCKET = 40


class Missing(Enum):
    """Why a reference gives nothing: it is too old, or it never was."""

    EVICTED = "evicted"
    NEVER_ISSUED = "never_issued"


class ReferenceStore(Protocol):
    """Payloads of conversations, by channel and kind.

    A bucket is one kind within one channel; it holds `MAX_PER_BUCKET` payloads that nothing pins, the
    oldest goes first. References count up within the bucket and are never used again.

    Implementations must pass `contracts.reference_store.ReferenceStoreContract`.
    """

    async def put(self, channel: ChannelKey, payload: Renderable) -> Marker:
        """Keep `payload`; return the marker that stands for it."""
        ...

    async def get(self, channel: ChannelKey, marker: Marker) -> Renderable | Missing:
        """Return what the marker stands for in this channel, and in no other."""
        ...

    async def pin(self, channel: ChannelKey, markers: tuple[Marker, ...]) -> None:
        """Exempt from eviction what a sealed run shows; what is not kept any more cannot be pinned."""
        ...


class MemoryReferenceStore(ReferenceStore):
    """References within one process."""

    def __init__(self) -> None:
        self._issued: dict[tuple[ChannelKey, str], int] = {}
        self._kept: dict[tuple[ChannelKey, str], OrderedDict[str, Renderable]] = {}
        self._pinned: set[tuple[ChannelKey, str]] = set()

    async def put(self, channel: ChannelKey, payload: Renderable) -> Marker:
        bucket = (channel, payload.kind.value)
        number = self._issued[bucket] = self._issued.get(bucket, 0) + 1
        marker = Marker(payload.kind, f"{payload.kind.value}{number}")
        kept = self._kept.setdefault(bucket, OrderedDict())
        kept[marker.ref] = payload
        loose = [ref for ref in kept if (channel, ref) not in self._pinned]
        for ref in loose[: max(0, len(loose) - MAX_PER_BUCKET)]:
            del kept[ref]
        return marker

    async def get(self, channel: ChannelKey, marker: Marker) -> Renderable | Missing:
        bucket = (channel, marker.kind.value)
        kept = self._kept.get(bucket)
        if kept is not None and marker.ref in kept:
            return kept[marker.ref]
        issued = int(marker.ref[1:]) <= self._issued.get(bucket, 0)
        return Missing.EVICTED if issued else Missing.NEVER_ISSUED

    async def pin(self, channel: ChannelKey, markers: tuple[Marker, ...]) -> None:
        for marker in markers:
            if marker.ref in self._kept.get((channel, marker.kind.value), ()):
                self._pinned.add((channel, marker.ref))
