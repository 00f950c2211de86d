"""What followers hear of a source while the same source is read from end to end.

A listing is older than what is heard after it began: without this, an ingest would bring back a file that was
deleted meanwhile, or the readers that it had before.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cogni_domain.knowledge.source import ChangeEvent, ChangeKind


class News:
    """The newest event of each document, kept while somebody reads its source; in one process."""

    def __init__(self) -> None:
        self._reading: Counter[str] = Counter()
        self._heard: defaultdict[str, dict[str, ChangeEvent]] = defaultdict(dict)

    @contextmanager
    def kept(self, connector: str) -> Iterator[None]:
        """Keep what is heard of a source until it is read."""
        self._reading[connector] += 1
        try:
            yield
        finally:
            self._reading[connector] -= 1
            if not self._reading[connector]:
                self._heard.pop(connector, None)

    def note(self, connector: str, events: Sequence[ChangeEvent]) -> None:
        """Take what a follower heard."""
        if self._reading[connector]:
            for event in events:
                self._heard[connector][event.source_id] = event
                if event.kind is ChangeKind.MOVED and event.document is not None:
                    self._heard[connector][event.document.source_id] = event

    def of(self, connector: str, source_id: str) -> ChangeEvent | None:
        """Return the newest event of a document, None where nothing was heard of it."""
        return self._heard[connector].get(source_id) if self._reading[connector] else None

    def heard(self, connector: str) -> Sequence[str]:
        """Return what something was heard of."""
        return list(self._heard[connector]) if self._reading[connector] else []
