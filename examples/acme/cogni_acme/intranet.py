"""The demo company's intranet as it stands now: pages, tickets and files that change while it runs."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from weakref import WeakSet

from cogni_acme.content import Item, Kind


@dataclass(frozen=True, slots=True)
class Change:
    """What the item of an id was and is; None where it is not there."""

    item_id: str
    before: Item | None
    after: Item | None


class Intranet:
    """One tenant's items, by id. Change it from the event loop of those who listen."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = {item.id: item for item in items}
        self._listeners: WeakSet[asyncio.Queue[Change]] = WeakSet()

    def items(self) -> tuple[Item, ...]:
        """Return what is there, by id."""
        return tuple(self._items[item_id] for item_id in sorted(self._items))

    def get(self, item_id: str) -> Item | None:
        """Return one item."""
        return self._items.get(item_id)

    def ticket(self, reference: str) -> Item | None:
        """Return the ticket of that reference, without its internal comments."""
        for item in self._items.values():
            if item.kind is Kind.TICKET and item.ticket and item.ticket.reference == reference:
                return item
        return None

    def put(self, item: Item) -> None:
        """Create an item, or change the one of that id."""
        before = self._items.get(item.id)
        self._items[item.id] = item
        if before != item:
            self._tell(Change(item.id, before, item))

    def remove(self, item_id: str) -> None:
        """Delete an item, if it is there."""
        before = self._items.pop(item_id, None)
        if before is not None:
            self._tell(Change(item_id, before, None))

    def become(self, items: Iterable[Item]) -> None:
        """Take on another revision; what is gone is told first, since it may not be read any more."""
        wanted = {item.id: item for item in items}
        for gone in sorted(self._items.keys() - wanted.keys()):
            self.remove(gone)
        for item_id in sorted(wanted):
            self.put(wanted[item_id])

    def changes(self) -> AsyncIterator[Change]:
        """Yield what changes from this call on, without an end."""
        queue: asyncio.Queue[Change] = asyncio.Queue()
        self._listeners.add(queue)
        return _each(queue)

    def _tell(self, change: Change) -> None:
        for queue in self._listeners:
            queue.put_nowait(change)


async def _each(queue: asyncio.Queue[Change]) -> AsyncIterator[Change]:
    while True:
        yield await queue.get()
