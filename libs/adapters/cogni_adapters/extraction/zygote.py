"""A warm process that has the readers loaded, and forks one limited child for each file.

Started with no environment, and confined before the first file, so neither it nor a child holds
anything worth stealing. It knows one command: a byte with two files, the question and the answer. Files that are
called plain words go to one child that stays.
"""

import gc
import json
import os
import select
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from cogni_adapters.extraction.answer import encode_answer
from cogni_adapters.extraction.child import extract
from cogni_adapters.extraction.draft import Source
from cogni_adapters.extraction.forked import ended, settle, source_in
from cogni_adapters.extraction.lockdown import confine
from cogni_adapters.extraction.word_reader import WordReader
from cogni_domain.knowledge.extracted import ExtractionLimits

Task = Callable[[Source, int], None]
WORDS = b"w"


def write_answer(source: Source, descriptor: int) -> None:
    """Read one file and write what came of it."""
    with os.fdopen(descriptor, "wb") as file:
        encode_answer(extract(source), file)


def serve(
    control: socket.socket,
    folder: Path,
    limits: ExtractionLimits,
    task: Task | None = None,
) -> None:
    """Say which confinements are in force, then answer each request with how its child ended.

    A line of JSON each: `{"confined": [...]}` first, then `{"signal": n, "failed": bool, "timed_out":
    bool}`, the signal 0 for a child that ended by itself. Returns when the other end closes.

    Args:
        task: What a child does with a file instead of reading it; no child stays then.
    """
    confined = confine(folder)
    _say(control, {"confined": sorted(confined)})
    scratch = folder / "scratch"
    scratch.mkdir()
    gc.collect()
    gc.freeze()
    reader: WordReader | None = None
    while True:
        byte, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not byte or len(descriptors) != 2:
            break
        told = None
        if byte == WORDS and task is None:
            if reader is None or reader.is_over:
                reader = WordReader(control, scratch, limits)
            told = reader.read(descriptors)
        if told is None:
            if reader is not None and not reader.is_over:
                reader.end()
            told = _forked(control, descriptors, scratch, limits, task or write_answer)
        for descriptor in descriptors:
            os.close(descriptor)
        _empty(scratch)
        _say(control, told)


def _forked(
    control: socket.socket,
    descriptors: list[int],
    scratch: Path,
    limits: ExtractionLimits,
    task: Task,
) -> dict[str, int | bool]:
    """Read one file in a child of its own, ended with all that it started once its time is over."""
    process = os.fork()
    if process == 0:
        _run(control, descriptors, scratch, limits, task)
    handle = os.pidfd_open(process)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    timed_out = not poll.poll(limits.wall_s * 1000)
    os.close(handle)
    return ended(process, timed_out=timed_out)


def _run(
    control: socket.socket,
    descriptors: list[int],
    scratch: Path,
    limits: ExtractionLimits,
    task: Task,
) -> NoReturn:
    code = 1
    try:
        control.close()
        settle(scratch, limits)
        task(source_in(descriptors[0], limits), descriptors[1])
        code = 0
    finally:
        os._exit(code)


def _empty(scratch: Path) -> None:
    """Leave nothing of what a child wrote to the next one."""
    if any(scratch.iterdir()):
        shutil.rmtree(scratch)
        scratch.mkdir()


def _say(control: socket.socket, line: Mapping[str, object]) -> None:
    control.sendall(json.dumps(line).encode("ascii") + b"\n")


def main() -> None:
    """`zygote FD LIMITS`: the control socket's descriptor, and the limits as JSON."""
    control = socket.socket(fileno=int(sys.argv[1]))
    serve(control, Path.cwd(), ExtractionLimits(**json.loads(sys.argv[2])))


if __name__ == "__main__":
    main()
