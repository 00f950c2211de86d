"""The folder that one process holds: its lock, and where to reach who holds it."""

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    Ok,
    Result,
)


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

    def create(self) -> Result[None]:
        """Make the folder where it is not there yet.

        Errors:
            InvalidArgumentError: It cannot be made, or its name cannot be used.
        """
        if "?" in str(self.path):
            return self._wrong("a name with a question mark cannot be used")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return self._wrong(error.strerror or "it cannot be made")
        return Ok(None)

    def find(self) -> Result[None]:
        """Insist that the folder is there.

        Errors:
            NotFoundError: It is not; the message says how to make one.
        """
        if self.path.is_dir():
            return Ok(None)
        text = f"There is no data folder {self.path}. Start the product there first: cogni migrate, then cogni run."
        return Err(NotFoundError(HumanText(text)))

    def hold(self) -> Result[None]:
        """Take the lock.

        Errors:
            ConflictError: Another process holds it; the message names it and says what to do.
            InvalidArgumentError: Nothing can be written there.
        """
        held = self.try_to_hold()
        if isinstance(held, Err):
            return held
        return Ok(None) if held.value else Err(self.in_use())

    def try_to_hold(self) -> Result[bool]:
        """Take the lock; False where another process holds it.

        Errors:
            InvalidArgumentError: Nothing can be written there.
        """
        if self._lock is not None:
            return Ok(True)
        try:
            lock = (self.path / "lock").open("a+")
        except OSError as error:
            return self._wrong(error.strerror or "nothing can be written there")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._address.unlink(missing_ok=True)
        except BlockingIOError:
            lock.close()
            return Ok(False)
        except OSError as error:
            lock.close()
            return self._wrong(error.strerror or "nothing can be written there")
        self._lock = lock
        return Ok(True)

    def in_use(self) -> ConflictError:
        """Return the error of a folder that another process holds."""
        holder = self.holder()
        who = f"process {holder.pid} at {holder.url}" if holder else "another process"
        text = f"{self.path} is in use by {who}. Stop it first, or name another folder with --data."
        return ConflictError(HumanText(text))

    def _wrong(self, reason: str) -> Err:
        text = f"The data folder {self.path} cannot be used: {reason}. Name another with --data."
        return Err(InvalidArgumentError(HumanText(text)))

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
