"""The folder that one process holds: its lock, and where to reach who holds it."""

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from cogni_kernel import ConflictError, Err, HumanText, Ok, Result


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that serves from a data folder."""

    url: str
    pid: int


class DataFolder:
    """A data folder, held by at most one process at a time. The lock goes with the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def hold(self) -> Result[None]:
        """Take the lock.

        Errors:
            ConflictError: Another process holds it; the message names it and says what to do.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = (self.path / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            return Err(ConflictError(HumanText(self._held_message())))
        self._lock = lock
        self._address.unlink(missing_ok=True)
        return Ok(None)

    def _held_message(self) -> str:
        holder = self.holder()
        who = f"process {holder.pid} at {holder.url}" if holder else "another process"
        return f"{self.path} is in use by {who}. Stop it first, or name another folder with --data."

    def announce(self, url: str) -> None:
        """Say where this process can be reached."""
        beside = self._address.with_suffix(".new")
        beside.write_text(json.dumps({"url": url, "pid": os.getpid()}))
        beside.replace(self._address)

    def holder(self) -> Holder | None:
        """Return who serves from this folder, as far as it has said so."""
        try:
            found = json.loads(self._address.read_text())
            return Holder(str(found["url"]), int(found["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def release(self) -> None:
        """Let the folder go."""
        if self._lock is not None:
            self._address.unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    @property
    def _address(self) -> Path:
        return self.path / "server.json"

    def __enter__(self) -> "DataFolder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
