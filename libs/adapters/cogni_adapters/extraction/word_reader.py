"""The one child that stays: it reads files of plain words, one after the other, with Python alone.

A fork costs five times what reading a small page does. Only readers that no content can break out of run here,
and the child ends before a file of any other kind is opened: nothing that could be broken runs beside it.
"""

import os
import select
import socket
import time
from pathlib import Path
from typing import NoReturn

from cogni_adapters.extraction.answer import encode_answer
from cogni_adapters.extraction.child import extract_words
from cogni_adapters.extraction.forked import ended, settle, source_in
from cogni_domain.knowledge.extracted import ExtractionLimits

RETIRES_AFTER_S = 1.0
"""Of processor time: what is left of the limit is for the file that comes next."""

_GOES_ON, _LAST, _OTHER = b".", b"!", b"?"
_WELL = {"signal": 0, "failed": False, "timed_out": False}


class WordReader:
    """A child, forked at once, that reads until it fails or has read enough."""

    def __init__(self, control: socket.socket, scratch: Path, limits: ExtractionLimits) -> None:
        self.is_over = False
        self._limits = limits
        self._ours, theirs = socket.socketpair()
        self._process = os.fork()
        if self._process == 0:
            control.close()
            self._ours.close()
            _read_on(theirs, scratch, limits)
        theirs.close()

    def read(self, descriptors: list[int]) -> dict[str, int | bool] | None:
        """Have one file read, and tell how that ended; None where a child of its own must say.

        That is for what is not plain words, and where this child broke, for which the file may not be to blame.
        """
        said, timed_out = self._asked(descriptors)
        if said not in (_GOES_ON, _OTHER):
            told = self.end(timed_out=timed_out)
            if timed_out:
                return told
        if said in (_GOES_ON, _LAST):
            return _WELL
        os.lseek(descriptors[0], 0, os.SEEK_SET)
        os.ftruncate(descriptors[1], 0)
        os.lseek(descriptors[1], 0, os.SEEK_SET)
        return None

    def _asked(self, descriptors: list[int]) -> tuple[bytes, bool]:
        try:
            socket.send_fds(self._ours, [_GOES_ON], descriptors)
            poll = select.poll()
            poll.register(self._ours, select.POLLIN)
            if not poll.poll(self._limits.wall_s * 1000):
                return b"", True
            return self._ours.recv(1), False
        except OSError:
            return b"", False

    def end(self, *, timed_out: bool = False) -> dict[str, int | bool]:
        """End the child, and tell how it ended."""
        self.is_over = True
        self._ours.close()
        return ended(self._process, timed_out=timed_out)


def _read_on(asked: socket.socket, scratch: Path, limits: ExtractionLimits) -> NoReturn:
    code = 1
    try:
        settle(scratch, limits)
        said = _GOES_ON
        while said != _LAST:
            _, descriptors, _, _ = socket.recv_fds(asked, 1, 2)
            if len(descriptors) != 2:
                break
            said = _read(descriptors, limits)
            asked.send(said)
        code = 0
    finally:
        os._exit(code)


def _read(descriptors: list[int], limits: ExtractionLimits) -> bytes:
    read = extract_words(source_in(descriptors[0], limits))
    with os.fdopen(descriptors[1], "wb") as file:
        if read is None:
            return _OTHER
        encode_answer(read, file)
    return _LAST if time.process_time() > RETIRES_AFTER_S else _GOES_ON
