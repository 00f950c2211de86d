"""A folder and all below it, in one order, without ever leaving it.

Every folder is opened name by name from the root down, and no symbolic link is followed: what a link inside
points to is listed at its own place, and what it points to outside is not the source's.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from cogni_adapters.filesystem.names import RelativePath
from cogni_adapters.filesystem.permissions import Permissions, Rule

_DOWN = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

GONE = (FileNotFoundError, NotADirectoryError)


class Kind(Enum):
    """What stands at a path; CLOSED is what this process may not look at, file or folder."""

    FILE = "file"
    FOLDER = "folder"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of the tree; `status` is None where it is CLOSED."""

    path: RelativePath
    kind: Kind
    rule: Rule
    status: os.stat_result | None = None


_Waiting: TypeAlias = Entry | RelativePath


class Tree:
    """The folder at `root`, a path without links."""

    def __init__(self, root: Path, permissions: Permissions) -> None:
        self.root = root
        self._permissions = permissions

    def walk(self, start: RelativePath = (), after: RelativePath = ()) -> Iterator[Entry]:
        """Yield what is at `start` and below, files only after `after`, in the order of names as bytes.

        A folder is read when its turn comes. Hidden names, links and what is no regular file are left out,
        and so is what goes away meanwhile.

        Raises:
            OSError: The root itself cannot be read, or the disk fails.
        """
        waiting: list[_Waiting] = [start] if not start or _is_listed(start) else []
        while waiting:
            item = waiting.pop()
            if isinstance(item, Entry):
                if item.path > after:
                    yield item
                continue
            try:
                folder, inside = self._read(item, after)
            except (*GONE, PermissionError):
                if not item:
                    raise
                waiting.extend(filter(None, [self.find(item) if item == start else None]))
                continue
            if folder.kind is Kind.FOLDER or folder.path > after:
                yield folder
            waiting.extend(reversed(inside))

    def find(self, path: RelativePath) -> Entry | None:
        """Return the file at a path, None where no file is listed."""
        if not _is_listed(path):
            return None
        try:
            with self._entered(path[:-1]) as (folder, rule):
                found = self._look(folder, rule, path)
        except (*GONE, PermissionError):
            return None
        return found if isinstance(found, Entry) else None

    def open_file(self, path: RelativePath) -> int:
        """Return a descriptor of a regular file.

        Raises:
            FileNotFoundError: It is gone, or something else stands there now.
            OSError: It cannot be read.
        """
        if not _is_listed(path):
            raise FileNotFoundError
        with self._entered(path[:-1]) as (folder, _):
            if not stat.S_ISREG(os.stat(path[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                raise FileNotFoundError
            return os.open(path[-1], _READ, dir_fd=folder)

    @contextmanager
    def _entered(self, path: RelativePath) -> Iterator[tuple[int, Rule]]:
        """Give a descriptor of a folder to look from, and its rule."""
        folder = os.open(self.root, _DOWN)
        try:
            rule = self._permissions.of_folder(None, folder, os.fsencode(self.root.name))
            for name in path:
                below = os.open(name, _DOWN, dir_fd=folder)
                os.close(folder)
                folder = below
                rule = self._permissions.of_folder(rule, folder, name)
            yield folder, rule
        finally:
            os.close(folder)

    def _read(self, path: RelativePath, after: RelativePath) -> tuple[Entry, list[_Waiting]]:
        """Return a folder, its files, and the paths of the folders in it, in order."""
        with self._entered(path) as (folder, rule):
            try:
                names = _names(folder)
            except PermissionError:
                if not path:
                    raise
                return Entry(path, Kind.CLOSED, rule), []
            below = [(*path, name) for name in names]
            found = [self._look(folder, rule, p) for p in below if _reaches(p, after)]
            inside = [item for item in found if item is not None]
            return Entry(path, Kind.FOLDER, rule, os.fstat(folder)), inside

    def _look(self, folder: int, rule: Rule, path: RelativePath) -> _Waiting | None:
        """Return a file's entry, or the path of a folder, which is read later."""
        name = path[-1]
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                return path
            if not stat.S_ISREG(status.st_mode):
                return None
            readers = self._permissions.of_file(rule, folder, name)
            return Entry(path, Kind.FILE, readers, status)
        except PermissionError:
            return Entry(path, Kind.CLOSED, rule)
        except GONE:
            return None


def _names(folder: int) -> list[bytes]:
    listing = os.open(b".", _LIST, dir_fd=folder)
    try:
        names = map(os.fsencode, os.listdir(listing))  # noqa: PTH208 - of a descriptor
        return sorted(name for name in names if not _is_hidden(name))
    finally:
        os.close(listing)


def _is_listed(path: RelativePath) -> bool:
    """Tell whether files at such a path are part of the tree: `..` never is."""
    return bool(path) and all(name and not _is_hidden(name) for name in path)


def _is_hidden(name: bytes) -> bool:
    return name.startswith(b".")


def _reaches(path: RelativePath, after: RelativePath) -> bool:
    """Tell whether something at `path` or below it can come after `after`."""
    return path > after or after[: len(path)] == path
