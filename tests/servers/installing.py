"""Installing a server into the cache, once for all sessions of a machine."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.servers.process import UnavailableError, cache

ROOT = Path(__file__).parents[2]


def installed(name: str, install: Callable[[Path], None]) -> Path:
    """Return the folder of an installed server; `install` fills it where it is not there yet.

    Raises:
        UnavailableError: It could not be installed.
    """
    folder = cache() / name
    with (cache() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = Path(tempfile.mkdtemp(dir=cache(), prefix="part-"))
            try:
                install(part)
                part.chmod(0o755)
                part.rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return folder


def wheel(requirement: str, folder: Path) -> None:
    """Unpack one wheel of the package index into a folder."""
    uv = ROOT / ".uv/bin/uv"
    if not uv.exists():
        raise UnavailableError("`make install` was not run")
    fetch([str(uv), "pip", "install", "-q", "--no-deps", "--target", str(folder), requirement])


def fetch(command: Sequence[str]) -> None:
    """Run a command that brings something from a registry.

    Raises:
        UnavailableError: It failed: most often there is no network.
    """
    known = {"UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "UV_LINK_MODE": "copy"}
    try:
        done = subprocess.run(
            command,
            env=os.environ | known,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{Path(command[0]).name} could not be run: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-300:]
        raise UnavailableError(f"{Path(command[0]).name} failed: {said}")
