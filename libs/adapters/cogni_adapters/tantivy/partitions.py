"""The open indexes of a folder, as many as threads and memory allow, and the right to write to them."""

import fcntl
import os
import threading
from collections import OrderedDict
from pathlib import Path

from cogni_adapters.tantivy.partition import Partition
from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.knowledge.partition_names import partition_name

MOST_OPEN = 32
"""Each has a thread that watches its folder."""

MOST_WRITERS = 4
"""Each has six threads and memory of its own."""


class Partitions:
    """Opens indexes when they are asked for, and closes the ones that were not for the longest time.

    Writers come one at a time; `writing` is theirs to hold.
    """

    def __init__(self, folder: Path) -> None:
        self.writing = threading.Lock()
        self._folder = folder
        self._opening = threading.Lock()
        self._open: OrderedDict[IndexId, Partition] = OrderedDict()
        self._writers: OrderedDict[IndexId, Partition] = OrderedDict()
        self._lock: int | None = None

    def exists(self, index: IndexId) -> bool:
        """Tell whether anything was ever written to the index."""
        return Partition.exists(self._folder / partition_name(index))

    def to_read(self, index: IndexId) -> Partition | None:
        """Return the index where it exists."""
        with self._opening:
            if index not in self._open and not self.exists(index):
                return None
            return self._opened(index)

    def to_write(self, index: IndexId) -> Partition | None:
        """Return the index, new or old; None where another process writes to this folder."""
        if not self._holds_the_folder():
            return None
        with self._opening:
            partition = self._writers[index] = self._opened(index)
            self._writers.move_to_end(index)
            closing = (
                self._writers.popitem(last=False)[1] if len(self._writers) > MOST_WRITERS else None
            )
        if closing is not None:
            closing.close_writer()
        return partition

    def close(self) -> None:
        """Let merges end, and other processes write."""
        with self._opening:
            while self._writers:
                self._writers.popitem()[1].close_writer()
            self._open.clear()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _opened(self, index: IndexId) -> Partition:
        partition = self._open.get(index) or Partition(self._folder / partition_name(index))
        self._open[index] = partition
        self._open.move_to_end(index)
        if len(self._open) > MOST_OPEN:
            del self._open[next(each for each in self._open if each not in self._writers)]
        return partition

    def _holds_the_folder(self) -> bool:
        """Take the folder for this process, until `close` or the end of the process, however it ends."""
        if self._lock is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._folder / "writer.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                return False
            self._lock = lock
        return True
