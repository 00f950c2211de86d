"""A warm process whose children do to their sandbox what a file's content says."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cogni_adapters.extraction.draft import Source
from cogni_adapters.extraction.zygote import serve, write_answer
from cogni_domain.knowledge.extracted import ExtractionLimits


def obey(source: Source, descriptor: int) -> None:
    deed, _, argument = source.data.decode().partition(" ")
    if deed == "say":
        os.write(descriptor, argument.encode())
    elif deed == "report":
        os.write(descriptor, _report(argument))
    elif deed == "flood":
        os.write(descriptor, b"{}\n")
        while os.write(descriptor, bytes(2**20)):
            pass
    elif deed in _DEEDS:
        _DEEDS[deed]()
    else:
        write_answer(source, descriptor)


def _spin() -> None:
    while True:
        pass


def _hoard() -> None:
    kept = []
    while True:
        kept.append(bytearray(2**24))


def _report(attempt: str) -> bytes:
    """What happened to an attempt, as the explanation of a skip."""
    try:
        outcome = str(_ATTEMPTS[attempt]())
    except OSError as error:
        outcome = type(error).__name__
    return json.dumps({"reason": "unsupported", "explanation": outcome}).encode() + b"\n"


def _native_open() -> str:
    """Open a file past the audit hook, as code that broke out of the interpreter would."""
    handle = _libc.open(b"/etc/passwd", os.O_RDONLY)
    return "opened" if handle >= 0 else "refused"


def _native_connect() -> str:
    handle = _libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0)
    address = b"\x02\x00\x00\x09\x7f\x00\x00\x01" + bytes(8)
    _libc.connect(handle, address, len(address))
    return os.strerror(ctypes.get_errno())


def _native_kill() -> str:
    return "killed" if _libc.kill(_outside, 0) == 0 else "refused"


_DEEDS: dict[str, Callable[[], object]] = {
    "crash": lambda: ctypes.string_at(0),
    "signal": os.abort,
    "hang": lambda: time.sleep(600),
    "spin": _spin,
    "memory": _hoard,
}
_libc = ctypes.CDLL(None, use_errno=True)
_outside = os.getppid()
_ATTEMPTS: dict[str, Callable[[], object]] = {
    "socket": socket.socket,
    "program": lambda: subprocess.run(["/bin/true"], check=False),
    "fork": os.fork,
    "read": lambda: Path("/etc/passwd").read_text(),
    "write": lambda: Path("/tmp/cogni-escaped").write_text("x"),
    "list": lambda: list(Path("/").iterdir()),
    "kill": lambda: os.kill(_outside, signal.SIGTERM),
    "scratch": lambda: Path("note").write_text("mine") and list(map(str, Path().iterdir())),
    "environment": lambda: dict(os.environ),
    "group": lambda: os.getpgid(0) == os.getpid(),
    "native open": _native_open,
    "native connect": _native_connect,
    "native kill": _native_kill,
}


if __name__ == "__main__":
    serve(
        socket.socket(fileno=int(sys.argv[1])),
        Path.cwd(),
        ExtractionLimits(**json.loads(sys.argv[2])),
        obey,
    )
