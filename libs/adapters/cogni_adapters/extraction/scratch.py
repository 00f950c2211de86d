"""The private folders of reading processes: each locked by the process it serves, and swept when that is gone."""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "cogni-extraction-"
YOUNG_S = 60.0
"""A folder may be this old before it is locked."""


class Scratch:
    """A folder in the system's own for temporary files, of this process until it ends, however that is."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder with what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep() -> None:
    """Remove the folders that processes of this account left behind when they were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    """Remove a folder that is nobody's.

    Raises:
        OSError: It is in use, no folder, gone, or another account's.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(lock)
        if status.st_uid == os.getuid() and time.time() - status.st_mtime > YOUNG_S:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
