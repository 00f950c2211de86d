"""A warm process that has the readers loaded, and forks one limited child for each file.

Started with no environment, and confined before the first file, so neither it nor a child holds
anything worth stealing. It knows one command: a byte with two files, the question and the answer.
"""

import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from cogni_adapters.extraction.answer import encode_answer, most_bytes
from cogni_adapters.extraction.child import extract
from cogni_adapters.extraction.draft import Source
from cogni_adapters.extraction.lockdown import confine, limit, refuse_in_python
from cogni_domain.knowledge.extracted import ExtractionLimits

Task = Callable[[Source, int], None]


def write_answer(source: Source, descriptor: int) -> None:
    """Read one file and write what came of it."""
    with os.fdopen(descriptor, "wb") as file:
        encode_answer(extract(source), file)


def serve(
    control: socket.socket,
    folder: Path,
    limits: ExtractionLimits,
    task: Task = write_answer,
) -> None:
    """Say which confinements are in force, then answer each request with how its child ended.

    A line of JSON each: `{"confined": [...]}` first, then `{"signal": n, "failed": bool, "timed_out":
    bool}`, the signal 0 for a child that ended by itself. Returns when the other end closes.
    """
    confined = confine(folder)
    _say(control, {"confined": sorted(confined)})
    scratch = folder / "scratch"
    scratch.mkdir()
    gc.collect()
    gc.freeze()
    while True:
        byte, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not byte or len(descriptors) != 2:
            break
        process = os.fork()
        if process == 0:
            _run(control, descriptors, scratch, limits, task)
        for descriptor in descriptors:
            os.close(descriptor)
        ended = _await(process, limits.wall_s)
        _empty(scratch)
        _say(control, ended)


def _run(
    control: socket.socket,
    descriptors: list[int],
    scratch: Path,
    limits: ExtractionLimits,
    task: Task,
) -> None:
    """The child: never returns."""
    code = 1
    try:
        os.setsid()
        os.chdir(scratch)
        control.close()
        refuse_in_python(scratch)
        limit(limits, most_bytes(limits))
        with os.fdopen(descriptors[0], "rb") as file:
            name = json.loads(file.readline())
            source = Source(str(name), file.read(), limits)
        task(source, descriptors[1])
        code = 0
    finally:
        os._exit(code)


def _await(process: int, wall_s: float) -> dict[str, int | bool]:
    """Wait for the child to end, and end it with all that it started once its time is over."""
    handle = os.pidfd_open(process)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    timed_out = not poll.poll(wall_s * 1000)
    os.close(handle)
    _kill(process)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"signal": max(-code, 0), "failed": code > 0, "timed_out": timed_out}


def _empty(scratch: Path) -> None:
    """Leave nothing of what a child wrote to the next one."""
    if any(scratch.iterdir()):
        shutil.rmtree(scratch)
        scratch.mkdir()


def _kill(process: int) -> None:
    """Kill a child, which may have ended, and its group, which it may not have made yet."""
    for kill in (os.kill, os.killpg):
        try:
            kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _say(control: socket.socket, line: Mapping[str, object]) -> None:
    control.sendall(json.dumps(line).encode("ascii") + b"\n")


def main() -> None:
    """`zygote FD LIMITS`: the control socket's descriptor, and the limits as JSON."""
    control = socket.socket(fileno=int(sys.argv[1]))
    serve(control, Path.cwd(), ExtractionLimits(**json.loads(sys.argv[2])))


if __name__ == "__main__":
    main()
