"""What a reading process may do: compute, and write in one empty folder.

Three layers, each for what the one before leaves open:
- the kernel's limits on memory, processor time, written bytes and open files;
- a network namespace with no interface in it, and Landlock, which leaves the file system to the
  interpreter's own files and the private folder, and signals to the process's own kind. Both need no
  privilege, but a container may forbid them: `confine` says which are in force;
- an audit hook that refuses sockets, programs and other files to Python code, which is all there is
  where the kernel's two are not allowed.
"""

import ctypes
import os
import resource
import site
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from cogni_domain.knowledge.extracted import ExtractionLimits

NETWORK = "network namespace"
FILES = "landlock"

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = (1 << 13) - 1
_RIGHTS_BY_VERSION = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP, _SCOPES = 3, 3
_OPEN_FILES = 32
_REFUSED_EVENTS = frozenset(
    ("socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen",
     "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn",
     "ctypes.dlopen", "os.kill", "os.killpg")
)  # fmt: skip
_PATH_EVENTS = frozenset(
    ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link",
     "os.symlink", "os.chmod", "os.chown", "os.truncate", "os.utime", "os.chdir")
)  # fmt: skip
_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def confine(folder: Path) -> frozenset[str]:
    """Give up the network, privileges and all files but Python's own and `folder`, for good.

    Children inherit it. Returns which of NETWORK and FILES the kernel granted.
    """
    granted = set()
    _own_files()
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0 or _libc.unshare(_CLONE_NEWNET) == 0:
        granted.add(NETWORK)
    if _restrict_files(folder):
        granted.add(FILES)
    return frozenset(granted)


def limit(limits: ExtractionLimits, answer_bytes: int) -> None:
    """Set the kernel's limits on this process, and have it die with the one that forked it."""
    _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, answer_bytes),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))


def refuse_in_python(folder: Path) -> None:
    """Install the audit hook. It cannot be taken out again."""
    readable = tuple(f"{root}/" for root in _own_files())
    writable = (f"{folder}/",)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _REFUSED_EVENTS:
            raise PermissionError(f"{event} is not allowed while a file is read")
        if event in _PATH_EVENTS and arguments and isinstance(arguments[0], str | bytes):
            path = f"{os.path.abspath(os.fsdecode(arguments[0]))}/"  # noqa: PTH100
            reads = event in ("open", "os.listdir", "os.scandir") and not _writes(arguments)
            if not path.startswith((*readable, *writable) if reads else writable):
                raise PermissionError(f"{event} is not allowed there while a file is read")

    sys.addaudithook(hook)


def _writes(arguments: Sequence[object]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return isinstance(flags, int) and bool(
        flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    )


@cache
def _own_files() -> tuple[str, ...]:
    """Where Python loads modules from late: its library and the installed packages.

    Known before the first fork, since looking costs a child as much as reading a small file does.
    """
    paths = sysconfig.get_paths()
    roots = {paths["stdlib"], paths["platstdlib"], *site.getsitepackages()}
    return tuple(sorted({os.path.realpath(root) for root in roots if Path(root).is_dir()}))


def _restrict_files(folder: Path) -> bool:
    version = _libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = _FILE_RIGHTS
    for since, right in _RIGHTS_BY_VERSION.items():
        rights |= right if version >= since else 0
    rules = _Ruleset(rights, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _libc.syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    allowed = [(root, _READ_FILE | _READ_DIR) for root in _own_files()] + [(str(folder), rights)]
    for path, right in allowed:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = _PathRule(right, descriptor)
        _libc.syscall(_LANDLOCK_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0)
        os.close(descriptor)
    restricted: int = _libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return restricted == 0
