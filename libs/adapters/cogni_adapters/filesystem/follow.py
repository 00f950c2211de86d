"""What changes in a tree, found by comparing it with what it was.

The operating system's events only say where to look: they name a folder alone where all below it went or got
other readers, they cannot spell every name, and some are lost. So the place is listed again, and now and then
everything.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import TypeAlias

from watchfiles import watch

from cogni_adapters.filesystem.names import RelativePath
from cogni_adapters.filesystem.tree import Entry, Kind, Tree
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument

COMPARE_ALL_AFTER_S = 300.0
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0

_Identity: TypeAlias = tuple[int, int]
"""Device and number of a file."""

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
        self._root = _identity(tree.root.stat())
        self._known: dict[RelativePath, SourceDocument] = {}
        self._files: dict[RelativePath, _Identity] = {}
        self._folders: dict[RelativePath, _Identity] = {}
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
            if self._folders.keys() != watched:
                return

    def _compare(self, places: Iterable[RelativePath]) -> list[ChangeEvent]:
        """List these places anew; return what is different there."""
        gone: dict[RelativePath, tuple[SourceDocument, _Identity]] = {}
        new: dict[RelativePath, SourceDocument] = {}
        other: list[ChangeEvent] = []
        for place in _outermost(places):
            files, now = self._list(place)
            before = {p: d for p, d in self._known.items() if _is_at(p, place)}
            gone |= {p: (before[p], self._files[p]) for p in before.keys() - now.keys()}
            new |= {p: now[p] for p in now.keys() - before.keys()}
            other += _differences(before, now)
            for path in before:
                del self._known[path], self._files[path]
            self._known |= now
            self._files |= files
        if _identity(self._tree.root.stat()) != self._root:
            raise FileNotFoundError(f"another folder than before is at {self._tree.root}")
        return [*_gone_or_moved(gone, new, self._files), *other]

    def _list(
        self, place: RelativePath
    ) -> tuple[dict[RelativePath, _Identity], dict[RelativePath, SourceDocument]]:
        """Return the files at a place; where a disk was taken away, as they were."""
        entries = list(self._tree.walk(place))
        away = self._taken_away(entries)
        folders = {e.path: _identity(e.status) for e in entries if e.kind is Kind.FOLDER}
        files = {e.path: _identity(e.status) for e in entries if e.kind is not Kind.FOLDER}
        now = {e.path: self._describe(e) for e in entries if e.kind is not Kind.FOLDER}
        kept = {f: i for f, i in self._folders.items() if _is_at(f, place)}
        for path in kept:
            del self._folders[path]
        for root in away:
            folders |= {p: i for p, i in kept.items() if _is_at(p, root)}
            files |= {p: i for p, i in self._files.items() if _is_at(p, root)}
            now |= {p: d for p, d in self._known.items() if _is_at(p, root)}
        self._folders |= folders
        return files, now

    def _taken_away(self, entries: Sequence[Entry]) -> list[RelativePath]:
        """Return the folders on which a disk was mounted that is not there now: empty is not what it was."""
        return [
            entry.path
            for entry in entries
            if entry.kind is Kind.FOLDER
            and (before := self._folders.get(entry.path)) is not None
            and before[0] not in (self._root[0], _identity(entry.status)[0])
        ]


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


def _identity(status: os.stat_result | None) -> _Identity:
    """Return what stays while a file moves within a disk; nothing's for what may not be looked at."""
    return (0, 0) if status is None else (status.st_dev, status.st_ino)


def _is_at(path: RelativePath, place: RelativePath) -> bool:
    return path[: len(place)] == place


def _outermost(places: Iterable[RelativePath]) -> list[RelativePath]:
    """Return the places that lie in no other one."""
    kept: list[RelativePath] = []
    for place in sorted(set(places)):
        if not kept or not _is_at(place, kept[-1]):
            kept.append(place)
    return kept


def _gone_or_moved(
    gone: Mapping[RelativePath, tuple[SourceDocument, _Identity]],
    new: Mapping[RelativePath, SourceDocument],
    files: Mapping[RelativePath, _Identity],
) -> Iterator[ChangeEvent]:
    """Yield what became of files: each moved to where the same file is found new, or is deleted.

    What is new, and was nowhere before, comes last, as edits: what touches access comes first.
    """
    found = {files[path]: path for path in sorted(new, reverse=True) if any(files[path])}
    moved: set[RelativePath] = set()
    for path in sorted(gone):
        before, file = gone[path]
        to = found.get(file)
        if to is None or to in moved or new[to].revision != before.revision:
            yield ChangeEvent(ChangeKind.DELETED, before.source_id)
            continue
        moved.add(to)
        yield ChangeEvent(ChangeKind.MOVED, before.source_id, new[to], was_named=before.name)
    for path in new.keys() - moved:
        yield ChangeEvent(ChangeKind.EDITED, new[path].source_id, new[path])


def _differences(
    before: dict[RelativePath, SourceDocument], now: dict[RelativePath, SourceDocument]
) -> Iterator[ChangeEvent]:
    for path, document in now.items():
        known = before.get(path)
        if known is None:
            continue
        if known.revision != document.revision:
            yield ChangeEvent(ChangeKind.EDITED, document.source_id, document)
        elif known.rule != document.rule:
            yield ChangeEvent(ChangeKind.ACL_CHANGED, document.source_id, document)
