"""Starting a server of a test session's own, and ending it whatever happens."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

READY_S = 120
"""A JVM on a busy machine takes most of a minute."""

PAUSE_S = 0.05


class UnavailableError(Exception):
    """A server cannot be had here; the text says why, for whoever reads which tests did not run."""


def cache() -> Path:
    """Return the folder that servers are installed in once, which every user of this machine can read.

    `COGNI_SERVERS` names another one. Servers refuse to run as root and then run as nobody, who could not
    look into a clone that lies below root's home.
    """
    named = os.environ.get("COGNI_SERVERS")
    folder = Path(named or Path(tempfile.gettempdir()) / f"cogni-servers-{os.geteuid()}")
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise UnavailableError(f"{folder} belongs to somebody else")
    return folder


@contextmanager
def own_folder() -> Iterator[Path]:
    """Yield a new folder that a server may write to, and remove it with all that is in it."""
    folder = Path(tempfile.mkdtemp(dir=cache(), prefix="run-"))
    try:
        give(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def give(folder: Path) -> None:
    """Let the user that servers run as write to a folder."""
    if (owner := _owner()) is not None:
        os.chown(folder, owner, owner)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a command as the user that servers run as.

    Raises:
        UnavailableError: It failed.
    """
    done = subprocess.run(
        command,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
        user=_owner(),
        group=_owner(),
        extra_groups=None if _owner() is None else [],
    )
    if done.returncode:
        raise UnavailableError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-300:]}")


@contextmanager
def running(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    is_ready: Callable[[], bool],
    end_with: signal.Signals = signal.SIGTERM,
) -> Iterator[int]:
    """Run a server until the end of the block; yield its process id once it is ready.

    Raises:
        UnavailableError: It ended, or was not ready in time.
    """
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            user=_owner(),
            group=_owner(),
            extra_groups=None if _owner() is None else [],
        )
    try:
        _wait(server, Path(command[0]).name, log, is_ready)
        yield server.pid
    finally:
        server.send_signal(end_with)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait(
    server: subprocess.Popen[bytes], name: str, log: Path, is_ready: Callable[[], bool]
) -> None:
    until = time.monotonic() + READY_S
    while not is_ready():
        if server.poll() is not None or time.monotonic() > until:
            state = "was not ready in time" if server.returncode is None else "ended"
            last = log.read_text(errors="replace").strip()[-300:]
            raise UnavailableError(f"{name} {state}: {last}")
        time.sleep(PAUSE_S)


def _owner() -> int | None:
    """Return the number of the user, and of the group, that servers run as; None for whoever runs this."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
