"""What changes in a tree, found by comparing it with what it was.

The operating system's events only say where to look: they name a folder alone where all below it went or got
other readers, they cannot spell every name, and some are lost. So the place is listed again, and now and then
everything.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event

from watchfiles import watch

from cogni_adapters.filesystem.names import RelativePath
from cogni_adapters.filesystem.tree import Entry, Kind, Tree
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument

COMPARE_ALL_AFTER_S = 300.0
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0

_log = logging.getLogger(__name__)


class Follower:
    """Follows one tree from the moment `changes` is asked for.

    Args:
        describe: Makes a document of a file's entry.
        stop: Ends `changes` within a moment, from any thread.
    """

    def __init__(
        self, tree: Tree, describe: Callable[[Entry], SourceDocument], stop: Event
    ) -> None:
        self._tree = tree
        self._describe = describe
        self._stop = stop
        self._root = _identity(tree.root)
        self._known: dict[RelativePath, SourceDocument] = {}
        self._folders: set[RelativePath] = set()
        self._pause_s = FIRST_PAUSE_S

    def changes(self) -> Iterator[list[ChangeEvent]]:
        """Yield what changed, a moment's worth at a time, deletions first. Blocks: run it in a thread.

        Raises:
            OSError: The root is gone, or is another folder by now.
        """
        self._compare([()])
        while not self._stop.is_set():
            try:
                for places in self._places():
                    if found := self._compare(places):
                        yield found
            except _WatchBrokeError as broke:
                _log.info("watching is interrupted: %s", broke)
                self._stop.wait(self._pause_s)
                self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    def _places(self) -> Iterator[list[RelativePath]]:
        """Yield where to look, everything at first; ends when other folders are to be watched."""
        watched = frozenset(self._folders)
        everything_at = 0.0
        for batch in _watched(self._tree.root, watched, self._stop):
            if time.monotonic() >= everything_at:
                everything_at = time.monotonic() + COMPARE_ALL_AFTER_S
                yield [()]
            else:
                self._pause_s = FIRST_PAUSE_S
                yield batch
            if self._folders != watched:
                return

    def _compare(self, places: Iterable[RelativePath]) -> list[ChangeEvent]:
        """List these places anew; return what is different there."""
        gone: list[ChangeEvent] = []
        other: list[ChangeEvent] = []
        for place in _outermost(places):
            now = self._list(place)
            before = {path: d for path, d in self._known.items() if _is_at(path, place)}
            gone += [_deleted(before[path]) for path in sorted(before.keys() - now.keys())]
            other += _differences(before, now)
            self._known = {p: d for p, d in self._known.items() if p not in before} | now
        if _identity(self._tree.root) != self._root:
            raise FileNotFoundError(f"another folder than before is at {self._tree.root}")
        return gone + other

    def _list(self, place: RelativePath) -> dict[RelativePath, SourceDocument]:
        entries = list(self._tree.walk(place))
        self._folders = {f for f in self._folders if not _is_at(f, place)}
        self._folders |= {entry.path for entry in entries if entry.kind is Kind.FOLDER}
        return {e.path: self._describe(e) for e in entries if e.kind is not Kind.FOLDER}


class _WatchBrokeError(Exception):
    """The events stopped: too many folders, a name that is no text, a folder that went meanwhile."""


def _watched(
    root: Path, folders: Iterable[RelativePath], stop: Event
) -> Iterator[list[RelativePath]]:
    """Yield the paths that something happened to; at least every half second, perhaps none."""
    paths = [str(root.joinpath(*map(os.fsdecode, folder))) for folder in folders]
    try:
        for batch in watch(
            *filter(_can_be_spelt, paths),
            watch_filter=None,
            debounce=300,
            stop_event=stop,
            rust_timeout=500,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        ):
            yield [_relative(root, path) for _, path in batch]
    except GeneratorExit:
        raise
    except Exception as broke:
        raise _WatchBrokeError(str(broke)) from broke


def _can_be_spelt(path: str) -> bool:
    """Tell whether the watching library can name it: not UTF-8, not watched, but compared all the same."""
    return path == path.encode("utf-8", "replace").decode()


def _relative(root: Path, path: str) -> RelativePath:
    return tuple(map(os.fsencode, Path(path).relative_to(root).parts))


def _identity(root: Path) -> tuple[int, int]:
    status = root.stat()
    return status.st_dev, status.st_ino


def _is_at(path: RelativePath, place: RelativePath) -> bool:
    return path[: len(place)] == place


def _outermost(places: Iterable[RelativePath]) -> list[RelativePath]:
    """Return the places that lie in no other one."""
    kept: list[RelativePath] = []
    for place in sorted(set(places)):
        if not kept or not _is_at(place, kept[-1]):
            kept.append(place)
    return kept


def _deleted(document: SourceDocument) -> ChangeEvent:
    return ChangeEvent(ChangeKind.DELETED, document.source_id)


def _differences(
    before: dict[RelativePath, SourceDocument], now: dict[RelativePath, SourceDocument]
) -> Iterator[ChangeEvent]:
    for path, document in now.items():
        known = before.get(path)
        if known is None or known.revision != document.revision:
            yield ChangeEvent(ChangeKind.EDITED, document.source_id, document)
        elif known.rule != document.rule:
            yield ChangeEvent(ChangeKind.ACL_CHANGED, document.source_id, document)
